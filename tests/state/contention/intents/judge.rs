//! An independent model of intents, which goes through the log of events and reports impossible ones: it has neither
//! the patterns nor the tables of the product, only lists of files and the rules as they are documented.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

/// An intent as it was made.
#[derive(Clone, Debug)]
pub struct Made {
    pub files: BTreeSet<&'static str>,
    /// `None` for every branch.
    pub branch: Option<&'static str>,
    pub max_turns: u64,
}

/// The requests of clients that the judge needs to know.
#[derive(Clone, Debug)]
pub enum IntentRequest {
    /// A claim to write that cites an intent, or none; its message is its own.
    Claim { message: String, intent: Option<String> },
    /// A tool call without a claim.
    Call { intent: String },
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Granted,
    Refused,
    /// The client was killed: it may have been done or not.
    Unanswered,
}

/// The content of the store at the end.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    /// In the order of the log.
    pub events: Vec<Json>,
    /// Id -> status.
    pub statuses: BTreeMap<String, String>,
    /// Id -> turns.
    pub turns: BTreeMap<String, u64>,
    /// File -> rows.
    pub owners: BTreeMap<String, Vec<Json>>,
}

/// How much there was to judge.
#[derive(Debug, Default)]
pub struct Tally {
    pub begun: usize,
    pub ended: usize,
    pub blocked: usize,
    pub allowed: usize,
    pub grants: usize,
    pub refused: usize,
    pub unanswered: usize,
    pub taken_over: usize,
    pub given_up: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    intent: String,
    branch: Option<String>,
    from: Option<(String, Option<String>)>,
}

struct Model<'a> {
    made: &'a BTreeMap<String, Made>,
    status: BTreeMap<String, String>,
    allowed: BTreeSet<(String, String)>,
    owners: BTreeMap<String, Vec<Row>>,
    /// Messages of claims that were granted with an intent, and those without.
    granted: BTreeMap<String, Option<String>>,
    tally: Tally,
}

/// Goes through all that happened; the sentence names what cannot be.
pub fn judge(
    made: &BTreeMap<String, Made>,
    acts: &[(IntentRequest, Outcome)],
    stored: &Stored,
) -> Result<Tally, String> {
    let mut model = Model {
        made,
        status: BTreeMap::new(),
        allowed: BTreeSet::new(),
        owners: BTreeMap::new(),
        granted: BTreeMap::new(),
        tally: Tally::default(),
    };
    for event in &stored.events {
        model.follow(event).map_err(|why| format!("{why}: {event}"))?;
    }
    model.compare(stored)?;
    model.answers(acts, stored)?;
    Ok(model.tally)
}

fn have_common_branch(one: Option<&str>, other: Option<&str>) -> bool {
    one.is_none() || other.is_none() || one == other
}

impl Model<'_> {
    fn is_active(&self, id: &str) -> bool {
        matches!(self.status.get(id).map(String::as_str), Some("IN_PROGRESS" | "BLOCKED"))
    }

    fn are_allowed(&self, one: &str, other: &str) -> bool {
        let pair = |one: &str, other: &str| self.allowed.contains(&(one.to_owned(), other.to_owned()));
        pair(one, other) || pair(other, one)
    }

    fn follow(&mut self, event: &Json) -> Result<(), String> {
        let text = |name: &str| event[name].as_str().map(str::to_owned);
        let files = || event["files"].as_array().into_iter().flatten().filter_map(Json::as_str);
        match event["type"].as_str().unwrap_or_default() {
            "intent_changed" => {
                let (id, status) = (
                    text("intent_id").unwrap_or_default(),
                    text("status").unwrap_or_default(),
                );
                self.change(&id, text("previous"), &status)
            }
            "intent_overlap_allowed" => {
                let pair = (text("intent_id").unwrap_or_default(), text("other").unwrap_or_default());
                self.allowed.insert(pair);
                self.tally.allowed += 1;
                Ok(())
            }
            "file_taken_over" => {
                let id = text("intent_id").unwrap_or_default();
                if !self.is_active(&id) {
                    return Err("an intent that is not active takes files over".to_owned());
                }
                self.tally.taken_over += 1;
                files().for_each(|file| self.take(file, &id, None));
                Ok(())
            }
            "lock_granted" | "lock_renewed" if event["status"] == "WRITING" => {
                self.granted
                    .insert(text("message").unwrap_or_default(), text("intent_id"));
                self.tally.grants += 1;
                let branch = text("branch");
                files().try_for_each(|file| self.claim(file, branch.as_deref(), text("intent_id").as_deref()))
            }
            // Every release of these clients abandons its work, and no file is ever recorded as changed.
            "lock_released" if event["status"] == "WRITING" => {
                if let Some(id) = text("intent_id") {
                    files().for_each(|file| self.give_up(file, &id));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn change(&mut self, id: &str, previous: Option<String>, status: &str) -> Result<(), String> {
        let known = self.status.get(id).map(String::as_str);
        match (known, previous.as_deref()) {
            (None, None) if status == "PENDING" => {}
            (Some(known), Some(previous)) if known == previous => {
                let ways: &[&str] = match previous {
                    "PENDING" => &["IN_PROGRESS", "ABANDONED"],
                    "IN_PROGRESS" => &["COMPLETED", "ABANDONED", "BLOCKED"],
                    "BLOCKED" => &["IN_PROGRESS", "ABANDONED"],
                    _ => &[],
                };
                if !ways.contains(&status) {
                    return Err(format!("no way leads from {previous} to {status}"));
                }
            }
            (known, previous) => return Err(format!("it was {known:?}, and {previous:?} by the event")),
        }
        if previous.as_deref() == Some("PENDING") && status == "IN_PROGRESS" {
            self.tally.begun += 1;
            let mine = &self.made[id];
            let rival = self.status.keys().find(|other| {
                let theirs = &self.made[*other];
                other.as_str() != id
                    && self.is_active(other)
                    && !self.are_allowed(id, other)
                    && have_common_branch(mine.branch, theirs.branch)
                    && !mine.files.is_disjoint(&theirs.files)
            });
            if let Some(rival) = rival {
                return Err(format!("it overlaps with {rival}, which is active"));
            }
        }
        self.tally.ended += usize::from(matches!(status, "COMPLETED" | "ABANDONED"));
        self.tally.blocked += usize::from(status == "BLOCKED");
        self.status.insert(id.to_owned(), status.to_owned());
        Ok(())
    }

    fn claim(&mut self, file: &str, branch: Option<&str>, intent: Option<&str>) -> Result<(), String> {
        let made = intent.map(|id| &self.made[id]);
        if let (Some(id), Some(made)) = (intent, made) {
            if self.status[id] != "IN_PROGRESS" {
                return Err(format!("a claim cites an intent that is {}", self.status[id]));
            }
            if !made.files.contains(file) {
                return Err(format!("{file} is outside of the scope"));
            }
            if !have_common_branch(made.branch, branch) {
                return Err("the intent is about another branch".to_owned());
            }
        }
        let span = made.map_or(branch, |made| made.branch);
        let owner = self.owners.get(file).into_iter().flatten().find(|row| {
            Some(row.intent.as_str()) != intent
                && self.is_active(&row.intent)
                && have_common_branch(row.branch.as_deref(), span)
                && !intent.is_some_and(|id| self.are_allowed(id, &row.intent))
        });
        if let Some(owner) = owner {
            return Err(format!("{file} is owned by {}, which is active", owner.intent));
        }
        if let Some(id) = intent {
            let rows = self.owners.entry(file.to_owned()).or_default();
            let mut others = rows
                .iter()
                .filter(|row| row.intent != id && have_common_branch(row.branch.as_deref(), span));
            let before = others.next().map(|row| (row.intent.clone(), row.branch.clone()));
            if before.is_some() || !rows.iter().any(|row| row.intent == id) {
                self.take(file, id, before);
            }
        }
        Ok(())
    }

    fn take(&mut self, file: &str, id: &str, from: Option<(String, Option<String>)>) {
        let branch = self.made[id].branch;
        let rows = self.owners.entry(file.to_owned()).or_default();
        rows.retain(|row| !have_common_branch(row.branch.as_deref(), branch));
        rows.push(Row {
            intent: id.to_owned(),
            branch: branch.map(str::to_owned),
            from,
        });
    }

    /// The previous owner of the file has it again, on the branches where it has no other owner.
    fn give_up(&mut self, file: &str, id: &str) {
        let Some(rows) = self.owners.get_mut(file) else { return };
        let Some(place) = rows.iter().position(|row| row.intent == id) else {
            return;
        };
        self.tally.given_up += 1;
        let mut mine = rows.remove(place);
        if let Some((intent, branch)) = mine.from.take() {
            let is_free = !rows
                .iter()
                .any(|row| have_common_branch(row.branch.as_deref(), branch.as_deref()));
            mine.branch = if is_free { branch } else { mine.branch };
            rows.insert(place, Row { intent, ..mine });
        }
    }

    /// The store matches the events, and no file has two active owners.
    fn compare(&self, stored: &Stored) -> Result<(), String> {
        if stored.statuses != self.status {
            return Err(format!(
                "the store has {:?}, the events say {:?}",
                stored.statuses, self.status
            ));
        }
        let row = |row: &Json| {
            let text = |name: &str| row[name].as_str().map(str::to_owned);
            (text("intent").unwrap_or_default(), text("branch"))
        };
        let of_store: BTreeMap<_, Vec<_>> = stored
            .owners
            .iter()
            .map(|(file, rows)| (file.clone(), rows.iter().map(row).collect()))
            .collect();
        let of_events: BTreeMap<_, Vec<_>> = self
            .owners
            .iter()
            .filter(|(_, rows)| !rows.is_empty())
            .map(|(file, rows)| {
                let rows = rows.iter().map(|row| (row.intent.clone(), row.branch.clone()));
                (file.clone(), rows.collect())
            })
            .collect();
        if of_store != of_events {
            return Err(format!(
                "the store has the owners {of_store:?}, the events say {of_events:?}"
            ));
        }
        for (file, rows) in &of_store {
            let active: Vec<_> = rows.iter().filter(|(id, _)| self.is_active(id)).collect();
            for (place, (one, branch)) in active.iter().enumerate() {
                let mut others = active[..place].iter();
                if let Some((other, _)) =
                    others.find(|(_, other)| have_common_branch(branch.as_deref(), other.as_deref()))
                {
                    return Err(format!("{file} has two active owners: {other} and {one}"));
                }
            }
        }
        Ok(())
    }

    /// The answers to the clients match the events, and each turn is an allowed call.
    fn answers(&mut self, acts: &[(IntentRequest, Outcome)], stored: &Stored) -> Result<(), String> {
        let mut turns: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for (act, reply) in acts {
            self.tally.refused += usize::from(*reply == Outcome::Refused);
            self.tally.unanswered += usize::from(*reply == Outcome::Unanswered);
            let counted = match act {
                IntentRequest::Claim { message, intent } => {
                    let granted = self.granted.get(message);
                    match (reply, granted) {
                        (Outcome::Granted, None) => {
                            return Err(format!("{message} was granted, and no event shows it"));
                        }
                        (Outcome::Refused, Some(_)) => {
                            return Err(format!("{message} was refused, and an event grants it"));
                        }
                        _ => {}
                    }
                    let used = granted.cloned().flatten();
                    if granted.is_some() && intent.is_some() && *intent != used {
                        return Err(format!("{message} cited {intent:?} and was granted for {used:?}"));
                    }
                    used.map(|id| (id, true))
                }
                IntentRequest::Call { intent } => match reply {
                    Outcome::Granted => Some((intent.clone(), true)),
                    Outcome::Refused => None,
                    Outcome::Unanswered => Some((intent.clone(), false)),
                },
            };
            if let Some((id, is_known)) = counted {
                let (id, _) = self.made.get_key_value(&id).ok_or("an unknown intent")?;
                let (known, possible) = turns.entry(id).or_default();
                *known += u64::from(is_known);
                *possible += 1;
            }
        }
        for (id, made) in self.made {
            let used = stored.turns.get(id).copied().unwrap_or_default();
            let (known, possible) = turns.get(id.as_str()).copied().unwrap_or_default();
            // Logins that it does not belong to have as many together.
            if used > 2 * made.max_turns {
                return Err(format!("{id} has used {used} turns of {}", made.max_turns));
            }
            if used < known || used > possible {
                return Err(format!(
                    "{id} has used {used} turns, and {known} to {possible} calls were granted"
                ));
            }
        }
        Ok(())
    }
}
