//! Compares what the events tell ([`Model`]) with what the clients were told, what readers got, and what the store has at the end.

use std::collections::{BTreeMap, BTreeSet};

use super::asked::{Ask, Asked, Inboxes, Told};
use super::model::{Model, Sent, origin, texts};
use super::stored::Stored;

/// How much there was to judge.
#[derive(Debug, Default)]
pub struct Tally {
    pub created: usize,
    pub updated: usize,
    pub claimed: usize,
    pub lapsed: usize,
    pub released: usize,
    pub completed: usize,
    pub completed_after_lapse: usize,
    pub unblocked: usize,
    pub deleted: usize,
    pub messages: usize,
    pub received: usize,
    pub rings_refused: usize,
    pub taken: usize,
    pub taken_with_files: usize,
    pub files_in_the_way: usize,
    pub stopped: usize,
    pub stopped_all: usize,
    pub handles_taken_over: usize,
    pub unanswered: usize,
    pub unanswered_but_done: usize,
}

/// Goes through all that happened; the sentence names what cannot be.
pub fn judge(asks: &[Ask], inboxes: &Inboxes, stored: &Stored) -> Result<Tally, String> {
    let mut model = Model::of(asks);
    let titles = stored.tasks.iter().map(|(id, task)| (id.as_str(), &task["title"]));
    let of_events = stored
        .events
        .iter()
        .filter_map(|event| Some((event["task"].as_str()?, &event["title"])));
    for (id, title) in titles.chain(of_events) {
        if let Some(origin) = title.as_str().and_then(origin) {
            model.origins.insert(id.to_owned(), origin);
        }
    }
    for event in &stored.events {
        model.follow(event).map_err(|why| format!("{why}: {event}"))?;
    }
    model.nothing_is_due()?;
    model.settle_files()?;
    stored.check()?;
    model.compare(stored)?;
    model.answers(stored)?;
    model.read(inboxes)?;
    Ok(model.tally)
}

impl Model<'_> {
    /// The store has what the events have told.
    fn compare(&self, stored: &Stored) -> Result<(), String> {
        if stored.tasks.keys().ne(self.tasks.keys()) {
            return Err(format!(
                "the store has the tasks {:?}, the events told {:?}",
                stored.tasks.keys(),
                self.tasks.keys()
            ));
        }
        let dependencies = stored.dependencies();
        for (id, task) in &self.tasks {
            let record = &stored.tasks[id];
            let status = match (task.is_completed, task.was_claimed) {
                (true, _) => "completed",
                (_, true) => "in_progress",
                _ => "pending",
            };
            let is_alike = record["status"] == status
                && record["owner"].as_str() == task.owner.as_deref()
                && record["lapses"].as_u64().unwrap_or_default() == task.lapses;
            if !is_alike {
                return Err(format!("the store has {record}, the events told {id}: {task:?}"));
            }
            let none = BTreeSet::new();
            let found = dependencies.get(id.as_str()).unwrap_or(&none);
            if !found.iter().copied().eq(task.dependencies.iter().map(String::as_str)) {
                return Err(format!("the store has {id} on {found:?}, the requests said {task:?}"));
            }
        }
        if stored.locks.keys().ne(self.files.locked()) {
            return Err(format!(
                "the store has locks on {:?}, the events told {:?}",
                stored.locks.keys(),
                self.files
            ));
        }
        if stored.sequence != self.messages.len() as u64 {
            return Err(format!("the store counts {} messages", stored.sequence));
        }
        Ok(())
    }

    /// What the clients were told is what has happened, and nothing has happened that nobody asked for.
    fn answers(&mut self, stored: &Stored) -> Result<(), String> {
        let (mut answered, mut unanswered): (BTreeSet<i64>, BTreeMap<&str, usize>) = Default::default();
        for (mark, ask) in &self.asks {
            let wrong = |what: &str| Err(format!("{what}: {ask:?}"));
            self.tally.unanswered += usize::from(matches!(ask.told, Told::Nothing));
            match (&ask.asked, &ask.told) {
                (Asked::Create(_), Told::Done(answer)) => {
                    let made = self
                        .created
                        .get(mark)
                        .map(|made| made.values().cloned().collect::<Vec<_>>());
                    if made.unwrap_or_default() != texts(&answer["ids"]).collect::<Vec<_>>() {
                        return wrong("no event tells of these tasks");
                    }
                }
                (Asked::Update { .. }, Told::Done(_)) if !self.updated.contains(mark) => {
                    return wrong("no event tells of this change");
                }
                (Asked::Create(_) | Asked::Update { .. }, Told::Refused(code)) => {
                    self.tally.rings_refused += usize::from(code == "CIRCULAR_DEPENDENCY");
                }
                (Asked::Create(_), Told::Nothing) => {
                    self.tally.unanswered_but_done += usize::from(self.created.contains_key(mark));
                }
                (Asked::Take { with_files }, Told::Done(answer)) if answer["task"].is_object() => {
                    let token = answer["task"]["lease"]["token"].as_i64().unwrap_or_default();
                    let claim = answer["task"]["id"]
                        .as_str()
                        .map(|id| (id.to_owned(), ask.handle.clone()));
                    if self.claims.get(&token) != claim.as_ref() {
                        return wrong("no event tells of this claim");
                    }
                    let id = answer["task"]["id"].as_str().unwrap_or_default();
                    let files = if *with_files {
                        self.files_of(id)
                    } else {
                        BTreeSet::new()
                    };
                    let locks = answer["locks"].as_object().into_iter().flatten();
                    let is_claimed = self.files.of_claims.get(&token) == Some(&files);
                    if !locks.map(|(file, _)| file).eq(&files) || !(files.is_empty() || is_claimed) {
                        return wrong("its files were not claimed as it was told");
                    }
                    answered.insert(token);
                    self.tally.taken += 1;
                    self.tally.taken_with_files += usize::from(!files.is_empty());
                }
                (Asked::Take { .. }, Told::Refused(code)) => {
                    let is_by_files = code == "LOCK_CONFLICT" || code == "FILES_CLAIMED";
                    self.tally.files_in_the_way += usize::from(is_by_files);
                }
                (Asked::Take { .. }, Told::Nothing) => *unanswered.entry(&ask.handle).or_default() += 1,
                (Asked::Complete(id), Told::Done(_))
                    if !self.deleted.contains(id) && !self.completed_by.contains_key(id) =>
                {
                    return wrong("no event tells of this completion");
                }
                (Asked::Send(text), Told::Done(answer)) => {
                    let number = answer["id"].as_u64().unwrap_or_default();
                    let sent = self.messages.get((number as usize).wrapping_sub(1));
                    let is_alike = sent.is_some_and(|sent| sent.from.as_ref() == Some(&ask.handle));
                    if !is_alike || stored.bodies.get(&number) != Some(text) {
                        return wrong("no event tells of this message");
                    }
                }
                (Asked::Send(text), told) => {
                    let times = stored.bodies.values().filter(|body| *body == text).count();
                    if times > usize::from(matches!(told, Told::Nothing)) {
                        return wrong("this message was sent");
                    }
                }
                _ => {}
            }
        }
        for (token, (id, handle)) in &self.claims {
            if answered.contains(token) {
                continue;
            }
            match unanswered.get_mut(handle.as_str()) {
                Some(count) if *count > 0 => *count -= 1,
                _ => return Err(format!("{handle} got {id} with {token}, and has not asked for it")),
            }
        }
        Ok(())
    }

    /// What each reader got are the messages to it, once and in order.
    fn read(&mut self, inboxes: &Inboxes) -> Result<(), String> {
        self.tally.messages = self.messages.len();
        for (reader, got) in inboxes {
            let is_for = |sent: &Sent| match sent.to.as_str() {
                "broadcast" => sent.from.as_ref() != Some(reader),
                to => to == reader || sent.recipients.contains(reader),
            };
            let numbers = (1..).zip(&self.messages);
            let expected: Vec<u64> = numbers
                .filter(|(_, sent)| is_for(sent))
                .map(|(number, _)| number)
                .collect();
            let numbers: Vec<u64> = got.iter().map(|(number, _)| *number).collect();
            if numbers != expected {
                let lost: Vec<_> = expected.iter().filter(|number| !numbers.contains(number)).collect();
                return Err(format!("{reader} got {numbers:?}, without {lost:?} of those to it"));
            }
            self.tally.received += got.len();
        }
        Ok(())
    }
}
