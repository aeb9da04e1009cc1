//! Holds assign() of assign.rs to the promises of files: cargo run -- ../../valid.json ...
//! Exit code 1 where one is broken. Copy the folder, and put your own assignor into assign.rs.

mod assign;

use assign::{assign, COOPERATIVE};
use serde_json::{json, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::{env, fs, process, sync::mpsc, thread, time::Duration};

const LIMIT: Duration = Duration::from_secs(5);
const ROUNDS: usize = 50;

pub type Group = Value;
/// By member and topic, partition numbers.
pub type Held = BTreeMap<String, BTreeMap<String, Vec<u64>>>;
type Pairs = HashSet<(String, String, u64)>;

pub fn reads(group: &Group, member: &str, topic: &str) -> bool {
    let said = group["members"][member]["subscription"].as_array();
    said.is_some_and(|topics| topics.iter().any(|one| one == topic))
}

fn pairs(held: &Value) -> Pairs {
    let mut found = Pairs::new();
    for (member, topics) in held.as_object().unwrap() {
        for (topic, numbers) in topics.as_object().unwrap() {
            for number in numbers.as_array().unwrap() {
                found.insert((member.clone(), topic.clone(), number.as_u64().unwrap()));
            }
        }
    }
    found
}

fn owned(group: &Group) -> Pairs {
    let members = group["members"].as_object().unwrap().iter();
    let said = members.map(|(m, one)| (m.clone(), one.get("owned").cloned().unwrap_or(json!({}))));
    pairs(&Value::Object(said.collect()))
}

/// The group in which each member owns what it was given, a generation later.
fn claiming(group: &Group, made: &Value) -> Group {
    let mut later = group.clone();
    let members = group["members"].as_object().unwrap();
    let generation = members.values().filter_map(|m| m["generation"].as_i64()).max().unwrap_or(0);
    for (member, said) in later["members"].as_object_mut().unwrap() {
        said["owned"] = made.get(member).cloned().unwrap_or(json!({}));
        said["generation"] = json!(generation.max(0) + 1);
    }
    later
}

/// The assignment once nobody has to revoke; None where the rounds do not end.
fn settled(group: &Group) -> Result<Option<Value>, String> {
    let mut group = group.clone();
    for _ in 0..ROUNDS {
        let made = json!(assign(&group)?);
        if !COOPERATIVE || owned(&group).is_subset(&pairs(&made)) {
            return Ok(Some(made));
        }
        group = claiming(&group, &made);
    }
    Ok(None)
}

#[derive(Debug)]
struct Measured {
    balanced: bool,
    loads: Vec<u64>,
    moves: u64,
    racks: u64,
}

/// What counts of an assignment; None where it is not valid.
fn measured(group: &Group, made: &Value, best: &Value) -> Option<Measured> {
    let (held, members) = (pairs(made), group["members"].as_object().unwrap());
    let load = |m: &str| held.iter().filter(|pair| pair.0 == m).count() as u64;
    let load: HashMap<&str, u64> = members.keys().map(|m| (m.as_str(), load(m))).collect();
    let topics = made.as_object().unwrap().values().flat_map(|t| t.as_object().unwrap().values());
    let given: usize = topics.map(|numbers| numbers.as_array().unwrap().len()).sum();
    let mut every = HashSet::new();
    for (topic, said) in group["topics"].as_object().unwrap() {
        if members.keys().any(|m| reads(group, m, topic)) {
            let count = said.as_u64().or(said["partitions"].as_u64()).unwrap_or(0);
            every.extend((0..count).map(|number| (topic.clone(), number)));
        }
    }
    let there: HashSet<_> = held.iter().map(|(_, t, n)| (t.clone(), *n)).collect();
    let far = |(m, t, n): &&(String, String, u64)| {
        let racks = group["topics"][t]["racks"][*n as usize].as_array();
        racks.is_some_and(|near| !near.contains(&members[m]["rack"]))
    };
    let can_move = |(m, t, _): &(String, String, u64)| {
        members.keys().any(|o| load[m.as_str()] > load[o.as_str()] + 1 && reads(group, o, t))
    };
    let all_read = held.iter().all(|(m, t, _)| reads(group, m, t));
    if given != every.len() || there != every || !all_read {
        return None;
    }
    let mut loads: Vec<u64> = load.values().copied().collect();
    loads.sort();
    let owners = best.get("owners").map_or_else(|| owned(group), pairs);
    Some(Measured {
        balanced: !held.iter().any(can_move),
        loads,
        moves: owners.difference(&held).count() as u64,
        racks: held.iter().filter(far).count() as u64,
    })
}

/// Whether the promise is kept, None where it is not put to the test; and what was measured.
fn judged(promise: &str, group: &Group, best: &Value) -> (Option<bool>, String) {
    let made = match settled(group) {
        Err(said) => return ((promise == "answers").then_some(false), said),
        Ok(_) if promise == "terminates" || promise == "answers" => {
            return (Some(true), String::new())
        }
        Ok(made) if promise == "settles" => {
            return (Some(made.is_some()), "rounds without end".into())
        }
        Ok(None) => return (None, String::new()),
        Ok(Some(made)) => made,
    };
    let Some(found) = measured(group, &made, best) else {
        return ((promise == "valid").then_some(false), made.to_string());
    };
    let said = format!("{found:?}");
    let is_best = json!(found.loads) == best["loads"];
    let kept = match promise {
        "valid" => Some(true),
        "balanced" => Some(found.balanced),
        "optimal-balance" => Some(is_best),
        "idempotent" => match settled(&claiming(group, &made)) {
            Ok(Some(again)) => Some(pairs(&made).is_subset(&pairs(&again))),
            _ => None,
        },
        _ if !is_best => None,
        "optimal-moves" => Some(found.moves <= best["moves"].as_u64().unwrap()),
        _ => Some(found.racks <= best["racks"].as_u64().unwrap()),
    };
    (kept, said)
}

fn main() {
    let mut code = 0;
    for file in env::args().skip(1) {
        let document: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let promise = document["promise"].as_str().unwrap().to_string();
        let (mut kept, mut broken, mut untested, mut left) = (0, 0, 0, 0);
        for one in document["instances"].as_array().unwrap() {
            if one.get("group").is_none() {
                left += 1;
                continue;
            }
            let (sender, receiver) = mpsc::channel();
            let (asked, given) = (promise.clone(), one.clone());
            thread::spawn(move || sender.send(judged(&asked, &given["group"], &given["answer"])));
            let (came, said) = receiver.recv_timeout(LIMIT).unwrap_or_else(|error| {
                let late = error == mpsc::RecvTimeoutError::Timeout;
                let asked = promise == if late { "terminates" } else { "answers" };
                (asked.then_some(false), format!("no answer: {error}"))
            });
            match came {
                None => untested += 1,
                Some(true) => kept += 1,
                Some(false) => {
                    (broken, code) = (broken + 1, 1);
                    let best = &one["answer"];
                    let best = format!("{} {} {}", best["loads"], best["moves"], best["racks"]);
                    println!("{promise} {} {said} best: {best}", one["id"].as_str().unwrap());
                }
            }
        }
        println!(
            "{promise}: {kept} kept, {broken} broken, {untested} not tested, {left} only recipes"
        );
    }
    process::exit(code);
}
