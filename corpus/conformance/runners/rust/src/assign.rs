//! What the runner calls: here a small assignor of its own. Replace it by yours.

use crate::{reads, Group, Held};

/// Whether members keep what they own while they join: then assign() is called round by round.
pub const COOPERATIVE: bool = false;

/// Owners keep their partitions; the rest goes to whoever has least; then single partitions move
/// to readers with two fewer, until none can.
pub fn assign(group: &Group) -> Result<Held, String> {
    let members = group["members"].as_object().ok_or("no members")?;
    let mut held: Held = members.keys().map(|m| (m.clone(), Default::default())).collect();
    let load = |held: &Held, m: &str| held[m].values().map(|n| n.len()).sum::<usize>();
    let mut all = vec![];
    for (topic, said) in group["topics"].as_object().ok_or("no topics")? {
        let readers: Vec<&String> = members.keys().filter(|m| reads(group, m, topic)).collect();
        let count = said.as_u64().or(said["partitions"].as_u64()).unwrap_or(0);
        for number in (0..count).filter(|_| !readers.is_empty()) {
            let has = |m: &&&String| {
                let owned = members[**m]["owned"][topic].as_array();
                owned.is_some_and(|numbers| numbers.iter().any(|n| n.as_u64() == Some(number)))
            };
            let least = readers.iter().min_by_key(|m| load(&held, m)).unwrap();
            let owner = readers.iter().find(has).unwrap_or(least);
            held.get_mut(*owner).unwrap().entry(topic.clone()).or_default().push(number);
            all.push((topic, number, readers.clone()));
        }
    }
    let mut moved = true;
    while std::mem::take(&mut moved) {
        for (topic, number, readers) in &all {
            let has = |m: &&&String| held[**m].get(*topic).is_some_and(|n| n.contains(number));
            let from = (*readers.iter().find(has).unwrap()).clone();
            let to = (*readers.iter().min_by_key(|m| load(&held, m)).unwrap()).clone();
            if load(&held, &from) > load(&held, &to) + 1 {
                held.get_mut(&from).unwrap().get_mut(*topic).unwrap().retain(|n| n != number);
                held.get_mut(&to).unwrap().entry((*topic).clone()).or_default().push(*number);
                moved = true;
            }
        }
    }
    Ok(held)
}
