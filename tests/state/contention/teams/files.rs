//! Locks on files, as events tell of them: who has which, and that those of a task come with its claim, all of them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::model::{Model, texts};

#[derive(Debug, Default)]
pub struct Files {
    /// File -> login of the holder.
    locked: BTreeMap<String, String>,
    /// The files that the events before this one have claimed for a task.
    taken: Option<ClaimedFiles>,
    /// Token of a claim -> the files that were claimed with it.
    pub of_claims: BTreeMap<i64, BTreeSet<String>>,
}

#[derive(Debug)]
struct ClaimedFiles {
    task: String,
    user: String,
    files: BTreeSet<String>,
}

impl Files {
    /// The files that are locked.
    pub fn locked(&self) -> impl Iterator<Item = &String> {
        self.locked.keys()
    }

    fn is_of(&self, task: &str) -> bool {
        self.taken.as_ref().is_some_and(|taken| taken.task == task)
    }
}

/// The task for whose claim files are locked: others see its id and its title as the reason.
fn task_of(event: &Json) -> Option<&str> {
    let (task, _) = event["message"].as_str()?.split_once(": ")?;
    let number = task.strip_prefix('t')?;
    number.parse::<u64>().is_ok().then_some(task)
}

impl Model<'_> {
    pub fn lock(&mut self, kind: &str, event: &Json) -> Result<(), String> {
        let task = task_of(event).filter(|_| matches!(kind, "lock_granted" | "lock_renewed"));
        if !task.is_some_and(|task| self.files.is_of(task)) {
            self.settle_files()?;
        }
        let user = event["user"].as_str().unwrap_or_default();
        for file in texts(&event["files"]) {
            let holder = match kind {
                "lock_granted" => self.files.locked.insert(file.clone(), user.to_owned()),
                "lock_renewed" => self.files.locked.get(&file).cloned(),
                _ => self.files.locked.remove(&file),
            };
            match (kind, holder) {
                ("lock_granted", None) => {}
                ("lock_granted", Some(holder)) => return Err(format!("{holder} has {file}")),
                (_, Some(holder)) if holder == user => {}
                (_, holder) => return Err(format!("{holder:?} has {file}")),
            }
            if let Some(task) = task {
                let taken = self.files.taken.get_or_insert_with(|| ClaimedFiles {
                    task: task.to_owned(),
                    user: user.to_owned(),
                    files: BTreeSet::new(),
                });
                taken.files.insert(file);
            }
        }
        Ok(())
    }

    /// Files that were claimed just now, and for another task than one that is claimed next, are those of a claim that is renewed.
    pub fn settle_files(&mut self) -> Result<(), String> {
        let Some(task) = self.files.taken.as_ref().map(|taken| taken.task.clone()) else {
            return Ok(());
        };
        match self.claim_of(&task) {
            Some((token, owner)) => self.take_files(&task, &owner, token),
            None => Err(format!("files of {task} were claimed without it")),
        }
    }

    /// Notes the files that were claimed just now with the claim of a task.
    pub fn take_files(&mut self, id: &str, owner: &str, token: i64) -> Result<(), String> {
        let Some(taken) = self.files.taken.take_if(|taken| taken.task == id) else {
            return self.settle_files();
        };
        if taken.user.trim_start_matches("user-") != owner.trim_start_matches('h') {
            return Err(format!("{} has claimed files of {id}, which is {owner}'s", taken.user));
        }
        let wanted = self.files_of(id);
        if taken.files != wanted {
            return Err(format!(
                "of the files {wanted:?} of {id}, {:?} were claimed",
                taken.files
            ));
        }
        self.files.of_claims.insert(token, taken.files);
        Ok(())
    }
}
