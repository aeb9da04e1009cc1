//! A small assignor, as a program for conformance.py. Replace assign() by your own.

use serde_json::{from_str, json, Value};
use std::collections::BTreeMap;
use std::io::stdin;

/// Returns partition numbers, by member and topic. Owners keep their partitions; the rest goes to
/// whoever has least; then single partitions move to readers with two fewer, until none can.
fn assign(group: &Value) -> Value {
    let members = group["members"].as_object().unwrap();
    let contains = |list: &Value, one: &Value| list.as_array().is_some_and(|l| l.contains(one));
    let mut load: BTreeMap<&String, u64> = members.keys().map(|m| (m, 0)).collect();
    let mut all = vec![];
    for (topic, said) in group["topics"].as_object().unwrap() {
        let reads = |m: &&String| contains(&members[*m]["subscription"], &json!(topic));
        let readers: Vec<&String> = members.keys().filter(reads).collect();
        for number in 0..said["partitions"].as_u64().unwrap() {
            let owns = |m: &&&String| contains(&members[**m]["owned"][topic], &json!(number));
            let least = readers.iter().min_by_key(|m| load[**m]);
            if let Some(owner) = readers.iter().find(owns).or(least) {
                *load.get_mut(*owner).unwrap() += 1;
                all.push((topic, number, readers.clone(), *owner));
            }
        }
    }
    let mut moved = true;
    while std::mem::take(&mut moved) {
        for (_, _, readers, owner) in &mut all {
            let to = *readers.iter().min_by_key(|m| load[**m]).unwrap();
            if load[*owner] > load[to] + 1 {
                *load.get_mut(*owner).unwrap() -= 1;
                *load.get_mut(to).unwrap() += 1;
                (*owner, moved) = (to, true);
            }
        }
    }
    let mut held: BTreeMap<&String, BTreeMap<&String, Vec<u64>>> = BTreeMap::new();
    for (topic, number, _, owner) in all {
        held.entry(owner).or_default().entry(topic).or_default().push(number);
    }
    json!(held)
}

fn main() {
    for line in stdin().lines() {
        println!("{}", assign(&from_str(&line.unwrap()).unwrap()));
    }
}
