//! The members of the team, its leader, its shutdowns, and its messages, according to the events.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::model::{Model, texts};

#[derive(Debug, Default)]
pub struct Members {
    pub handles: BTreeSet<String>,
    pub leader: String,
    /// The members that have stopped, and have not joined again.
    pub stopped: BTreeSet<String>,
    /// How often each has left.
    pub left: BTreeMap<String, usize>,
    shutdown: Option<Shutdown>,
    /// The members whose request another login has rejected.
    rejected: BTreeSet<String>,
    /// Everybody who has to has answered the shutdown: its end is due.
    is_answered: bool,
    /// A member and its act (left, handed over or forced) -> how often.
    pub deeds: BTreeMap<(String, String), usize>,
}

#[derive(Debug)]
struct Shutdown {
    id: String,
    /// The member that asks for it.
    by: String,
    /// It keeps other logins from no task until they approve.
    is_mild: bool,
    target: Option<String>,
    /// Unix seconds.
    time: i64,
    /// Handle -> whether it has approved.
    answers: BTreeMap<String, bool>,
}

#[derive(Debug)]
pub struct Sent {
    pub from: Option<String>,
    pub is_broadcast: bool,
    pub is_idle: bool,
    /// To whom it was sent -> how often that had left before.
    pub readers: BTreeMap<String, usize>,
    /// The tasks that its answer may name as ready.
    pub ready: BTreeSet<String>,
}

impl Members {
    /// Returns the members that have yet to answer a shutdown of all. Nobody waits for a stopped member, except for the
    /// leader.
    fn missing(&self, answers: &BTreeMap<String, bool>) -> Vec<&String> {
        let handles = self.handles.iter();
        let needed = handles.filter(|handle| !self.stopped.contains(*handle) || **handle == self.leader);
        needed.filter(|handle| !answers.contains_key(*handle)).collect()
    }

    fn settle(&mut self) {
        self.is_answered = self.shutdown.as_ref().is_some_and(|open| match &open.target {
            Some(target) => open.answers.contains_key(target) || !self.handles.contains(target),
            None => self.missing(&open.answers).is_empty(),
        });
    }

    fn note(&mut self, handle: &str, deed: String) {
        *self.deeds.entry((handle.to_owned(), deed)).or_default() += 1;
    }
}

impl Model<'_> {
    pub fn must_be_member(&self, handle: &str) -> Result<(), String> {
        match self.members.handles.contains(handle) {
            true => Ok(()),
            false => Err(format!("{handle} is not a member")),
        }
    }

    pub fn may_claim(&self, handle: &str) -> Result<(), String> {
        let is_asked = self.members.shutdown.as_ref().is_some_and(|open| {
            let is_of = open.target.as_deref().is_none_or(|target| target == handle);
            let is_mild = open.is_mild && open.by != handle && !open.answers.contains_key(handle);
            is_of && !is_mild && open.answers.get(handle) != Some(&false)
        });
        match is_asked || self.members.stopped.contains(handle) {
            true => Err(format!("{handle} is to stop")),
            false => Ok(()),
        }
    }

    /// A shutdown that all have answered ends at once, except for the tasks that are released first.
    pub fn no_end_is_due(&self, kind: &str) -> Result<(), String> {
        let may_be = matches!(
            kind,
            "shutdown_changed" | "task_released" | "task_lapsed" | "task_updated"
        );
        match self.members.is_answered && !may_be {
            true => Err(format!("{:?} is answered, and goes on", self.members.shutdown)),
            false => Ok(()),
        }
    }

    pub fn team_changed(&mut self, change: &str, handle: &str, user: &str) -> Result<(), String> {
        let by = format!("h{}", user.trim_start_matches("user-"));
        let members = &mut self.members;
        let is_in = members.handles.contains(handle);
        let is_own = by == handle;
        match change {
            "created" if members.leader.is_empty() && is_own => {
                handle.clone_into(&mut members.leader);
                members.handles.insert(handle.to_owned());
            }
            "joined" if is_own => {
                if is_in && !members.stopped.remove(handle) {
                    return Err(format!("{handle} is a member, and has not stopped"));
                }
                members.handles.insert(handle.to_owned());
            }
            "taken_over" if is_in && is_own => {
                members.stopped.remove(handle);
                self.tally.handles_taken_over += 1;
            }
            "left" if is_in && is_own && handle != members.leader => {
                members.handles.remove(handle);
                members.stopped.remove(handle);
                *members.left.entry(handle.to_owned()).or_default() += 1;
                members.note(handle, "left".to_owned());
                if let Some(open) = &mut members.shutdown {
                    open.answers.remove(handle);
                }
                members.settle();
                self.tally.left += 1;
            }
            "handed_over" if is_in && by == members.leader && !members.stopped.contains(handle) => {
                handle.clone_into(&mut members.leader);
                members.note(&by, format!("handed over to {handle}"));
                self.tally.handed_over += 1;
            }
            "closed" if members.shutdown.is_none() => {}
            _ => return Err(format!("{by} cannot do this in {members:?}")),
        }
        Ok(())
    }

    pub fn shutdown_changed(&mut self, event: &Json) -> Result<(), String> {
        let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        let (id, state, handle) = (text("shutdown"), text("state"), text("handle"));
        let target = event["target"].as_str().map(str::to_owned);
        let time = event["time"].as_i64().unwrap_or_default();
        let members = &mut self.members;
        let Some(mut open) = members.shutdown.take() else {
            let is_at_work = |target: &String| members.handles.contains(target) && !members.stopped.contains(target);
            if state != "requested" || !target.as_ref().is_none_or(is_at_work) {
                return Err(format!("it cannot be asked for in {members:?}"));
            }
            let (by, is_mild) = (
                handle.clone(),
                handle != members.leader && members.rejected.contains(&handle),
            );
            let mut answers = BTreeMap::new();
            if target.as_ref().is_none_or(|target| *target == handle) {
                answers.insert(handle.clone(), true);
                self.tally.stopped_all += usize::from(target.is_none());
                members.stopped.insert(handle);
            }
            members.shutdown = Some(Shutdown {
                id,
                by,
                is_mild,
                target,
                time,
                answers,
            });
            members.settle();
            return Ok(());
        };
        if open.id != id || open.target != target {
            return Err(format!("{open:?} is open"));
        }
        let is_asked = members.handles.contains(&handle) && open.target.as_ref().is_none_or(|target| *target == handle);
        let may_answer = is_asked && open.answers.get(&handle) != Some(&true);
        match state.as_str() {
            "approved" if may_answer => {
                open.answers.insert(handle.clone(), true);
                self.tally.stopped += usize::from(members.stopped.insert(handle) && open.target.is_some());
            }
            "rejected_by" if may_answer => {
                if handle != open.by {
                    members.rejected.insert(open.by.clone());
                }
                open.answers.insert(handle, false);
            }
            _ => return self.end_shutdown(open, &state, &handle, time),
        }
        members.shutdown = Some(open);
        members.settle();
        Ok(())
    }

    fn end_shutdown(&mut self, open: Shutdown, state: &str, handle: &str, time: i64) -> Result<(), String> {
        let missing = self.members.missing(&open.answers);
        let is_rejected = open.answers.values().any(|is_approved| !is_approved);
        let answer = open.target.as_ref().and_then(|target| open.answers.get(target));
        let may_be = match (state, &open.target) {
            ("approved", Some(target)) => answer == Some(&true) || !self.members.handles.contains(target),
            ("rejected", Some(_)) => answer == Some(&false),
            // It has a second to respond.
            ("forced", Some(_)) => answer.is_none() && handle == self.members.leader && time > open.time,
            ("rejected", None) => missing.is_empty() && is_rejected,
            ("closed", None) => missing.is_empty() && !is_rejected,
            _ => false,
        };
        if !may_be {
            return Err(format!("{open:?} cannot end so, without {missing:?}"));
        }
        if state == "forced" {
            self.members.stopped.extend(open.target);
            self.members.note(handle, format!("forced {}", open.id));
            self.tally.forced += 1;
        }
        self.members.is_answered = false;
        Ok(())
    }

    pub fn message_sent(&mut self, event: &Json) -> Result<(), String> {
        let from = event["from"].as_str().map(str::to_owned);
        let to = event["to"].as_str().unwrap_or_default().to_owned();
        let (is_broadcast, is_idle) = (to == "broadcast", event["message_type"] == "idle");
        let readers: BTreeSet<String> = if is_broadcast {
            let others = self
                .members
                .handles
                .iter()
                .filter(|handle| from.as_ref() != Some(*handle));
            others.cloned().collect()
        } else {
            texts(&event["recipients"]).chain([to]).collect()
        };
        for handle in readers.iter().chain(&from) {
            self.must_be_member(handle)?;
        }
        if is_idle && readers.iter().ne([&self.members.leader]) {
            return Err(format!("{} leads", self.members.leader));
        }
        let ready = self
            .tasks
            .0
            .keys()
            .filter(|id| is_idle && self.tasks.is_ready(id))
            .cloned()
            .collect();
        let left = |handle: &String| self.members.left.get(handle).copied().unwrap_or_default();
        let readers = readers.into_iter().map(|handle| (handle.clone(), left(&handle)));
        let sent = Sent {
            from,
            is_broadcast,
            is_idle,
            readers: readers.collect(),
            ready,
        };
        self.messages.push(sent);
        self.is_after_idle = is_idle;
        match event["number"] == self.messages.len() {
            true => Ok(()),
            false => Err(format!("message {} is next", self.messages.len())),
        }
    }
}
