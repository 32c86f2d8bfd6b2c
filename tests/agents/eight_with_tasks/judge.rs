//! Checks the log of events against the plan.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::plan::Planned;

/// Facts counted in the log of events.
#[derive(Debug, Default)]
pub struct Tally {
    /// Task -> who has completed it.
    pub completed: BTreeMap<String, String>,
    /// Task and owner of each claim that expired.
    pub lapsed: Vec<(String, String)>,
    /// Handles that another agent took over.
    pub taken_over: BTreeSet<String>,
    /// Steps of shutdowns, and by whom.
    pub shutdown: Vec<(String, String)>,
    /// Number of each message, and to whom it went.
    pub messages: BTreeMap<u64, BTreeSet<String>>,
    /// Most tasks that were out at once.
    pub most_out: usize,
}

#[derive(Default)]
struct Judge<'p> {
    plan: BTreeMap<&'p str, &'p Planned>,
    members: BTreeSet<String>,
    /// Task -> owner of its claim.
    owners: BTreeMap<String, String>,
    /// File -> the agent that has it locked.
    locked: BTreeMap<String, String>,
    /// File -> the task that is out with it.
    out: BTreeMap<String, String>,
    tally: Tally,
}

/// Returns the tally of the events, or an error if they are impossible.
pub fn judge(events: &[Value], plan: &[Planned]) -> Result<Tally, String> {
    let mut judge = Judge {
        plan: plan.iter().map(|task| (task.id.as_str(), task)).collect(),
        ..Judge::default()
    };
    for event in events {
        judge.follow(event).map_err(|why| format!("{why}: {event}"))?;
    }
    let done = &judge.tally.completed;
    match plan.iter().find(|task| !done.contains_key(&task.id)) {
        Some(task) => Err(format!("{} is not completed", task.id)),
        None if !judge.locked.is_empty() => Err(format!("locked in the end: {:?}", judge.locked)),
        None => Ok(judge.tally),
    }
}

impl Judge<'_> {
    fn follow(&mut self, event: &Value) -> Result<(), String> {
        let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        let texts = |name: &str| -> BTreeSet<String> {
            let items = event[name].as_array().into_iter().flatten();
            items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
        };
        let (task, handle) = (text("task"), text("handle"));
        match text("type").as_str() {
            "lock_granted" => return self.lock(texts("files"), &text("agent_id")),
            "lock_released" | "lock_expired" => {
                for file in texts("files") {
                    self.locked.remove(&file);
                    self.out.remove(&file);
                }
            }
            "task_claimed" => return self.claim(&task, handle),
            "task_completed" => {
                self.end(&task, &handle)?;
                self.tally.completed.insert(task, handle);
            }
            "task_lapsed" => {
                self.end(&task, &handle)?;
                self.tally.lapsed.push((task, handle));
            }
            "task_released" | "task_deleted" => return Err("nobody does that".to_owned()),
            "team_changed" => match text("change").as_str() {
                "created" | "joined" => drop(self.members.insert(handle)),
                "taken_over" => drop(self.tally.taken_over.insert(handle)),
                _ => {}
            },
            "shutdown_changed" => self.tally.shutdown.push((text("state"), handle)),
            "message_sent" => {
                let mut to = texts("recipients");
                if text("to") == "broadcast" {
                    to = self.members.clone();
                    to.remove(&text("from"));
                }
                self.tally
                    .messages
                    .insert(event["number"].as_u64().unwrap_or_default(), to);
            }
            _ => {}
        }
        Ok(())
    }

    fn lock(&mut self, files: BTreeSet<String>, agent: &str) -> Result<(), String> {
        for file in files {
            if let Some(other) = self.locked.insert(file, agent.to_owned()) {
                return Err(format!("{other} has it locked"));
            }
        }
        Ok(())
    }

    fn claim(&mut self, id: &str, handle: String) -> Result<(), String> {
        let task = *self.plan.get(id).ok_or("it is not planned")?;
        let completed = &self.tally.completed;
        if completed.contains_key(id) {
            return Err("it is completed".to_owned());
        }
        if let Some(open) = task.dependencies.iter().find(|other| !completed.contains_key(*other)) {
            return Err(format!("{open} comes before it"));
        }
        for file in &task.files {
            if !self.locked.contains_key(file) {
                return Err(format!("{file} is not locked"));
            }
            if let Some(other) = self.out.insert(file.clone(), id.to_owned()) {
                return Err(format!("{other} is out with {file}"));
            }
        }
        match self.owners.insert(id.to_owned(), handle) {
            Some(owner) => Err(format!("{owner} has it")),
            None => {
                self.tally.most_out = self.tally.most_out.max(self.owners.len());
                Ok(())
            }
        }
    }

    fn end(&mut self, id: &str, handle: &str) -> Result<(), String> {
        self.out.retain(|_, task| task != id);
        match self.owners.remove(id) {
            Some(owner) if owner == handle => Ok(()),
            owner => Err(format!("{owner:?} has it")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Two tasks with a common file; the second comes after the first.
    fn two() -> Vec<Planned> {
        let task = |id: &str, dependencies: &[&str]| Planned {
            id: id.to_owned(),
            dependencies: dependencies.iter().map(|&other| other.to_owned()).collect(),
            files: [super::super::plan::file(0)].into(),
        };
        vec![task("t1", &[]), task("t2", &["t1"])]
    }

    fn locked(agent: &str) -> Value {
        json!({ "type": "lock_granted", "files": ["src/part0.txt"], "agent_id": agent })
    }

    fn unlocked() -> Value {
        json!({ "type": "lock_released", "files": ["src/part0.txt"] })
    }

    fn task(kind: &str, id: &str, handle: &str) -> Value {
        json!({ "type": format!("task_{kind}"), "task": id, "handle": handle })
    }

    fn verdict(plan: &[Planned], events: &[Value]) -> String {
        judge(events, plan).map_or_else(|why| why, |_| String::new())
    }

    #[test]
    fn it_finds_what_cannot_be() {
        let (plan, mut no_order) = (two(), two());
        no_order[1].dependencies.clear();
        let of = |id: &str, who: &str| {
            [
                locked(who),
                task("claimed", id, who),
                unlocked(),
                task("completed", id, who),
            ]
        };
        let good = [of("t1", "ann"), of("t2", "bob")].concat();
        assert_eq!(verdict(&plan, &good), "");
        let without = |place: usize| [&good[..place], &good[place + 1..]].concat();
        let with = |place: usize, event: Value| [&good[..place], &[event], &good[place..]].concat();
        let swapped = [of("t2", "ann"), of("t1", "bob")].concat();
        let together = [
            locked("ann"),
            task("claimed", "t1", "ann"),
            task("claimed", "t2", "ann"),
        ];
        for (plan, events, why) in [
            (&plan, without(0), "src/part0.txt is not locked"),
            (&plan, without(2), "ann has it locked"),
            (&plan, without(3), "t1 comes before it"),
            (&plan, without(6), "locked in the end"),
            (&plan, without(7), "t2 is not completed"),
            (&plan, swapped, "t1 comes before it"),
            (&plan, with(4, task("completed", "t1", "ann")), "None has it"),
            (&plan, with(4, task("claimed", "t1", "bob")), "it is completed"),
            (&plan, with(2, task("lapsed", "t1", "bob")), "Some(\"ann\") has it"),
            (&plan, with(2, task("released", "t1", "ann")), "nobody does that"),
            (&plan, with(2, task("claimed", "t3", "ann")), "it is not planned"),
            (
                &plan,
                with(3, task("claimed", "t1", "bob")),
                "src/part0.txt is not locked",
            ),
            (&no_order, together.to_vec(), "t1 is out with src/part0.txt"),
        ] {
            let found = verdict(plan, &events);
            assert!(found.starts_with(why), "{found:?} and not {why:?}");
        }
    }
}
