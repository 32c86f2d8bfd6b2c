//! Compares the events ([`Model`]) with the answers to the clients, the messages that readers got, and the store at the end.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::acts::{Act, Ask, Inboxes, Reply};
use super::model::{Model, origin, texts};
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
    /// Of those that left.
    pub lost: usize,
    pub rings_refused: usize,
    pub taken: usize,
    pub taken_with_files: usize,
    pub files_in_the_way: usize,
    pub stopped: usize,
    pub stopped_all: usize,
    pub forced: usize,
    pub left: usize,
    pub handed_over: usize,
    pub handles_taken_over: usize,
    pub held_back: usize,
    pub cleared: usize,
    pub idle: usize,
    pub named_ready: usize,
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
    model.compare_members(stored)?;
    model.answers(&bodies(inboxes, stored)?)?;
    model.compare_deeds()?;
    model.read(inboxes, stored)?;
    Ok(model.tally)
}

/// Number -> text of the messages that are stored, or that a reader got.
fn bodies(inboxes: &Inboxes, stored: &Stored) -> Result<BTreeMap<u64, String>, String> {
    let mut bodies = stored.bodies.clone();
    for (number, text) in inboxes.values().flatten() {
        let body = bodies.entry(*number).or_insert_with(|| text.clone());
        if body != text {
            return Err(format!("message {number} is {body:?}, and a reader got {text:?}"));
        }
    }
    Ok(bodies)
}

impl Model<'_> {
    /// The store matches the events.
    fn compare(&self, stored: &Stored) -> Result<(), String> {
        if stored.tasks.keys().ne(self.tasks.0.keys()) {
            return Err(format!(
                "the store has the tasks {:?}, the events say {:?}",
                stored.tasks.keys(),
                self.tasks.0.keys()
            ));
        }
        let dependencies = stored.dependencies();
        for (id, task) in &self.tasks.0 {
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
                return Err(format!("the store has {record}, the events say {id}: {task:?}"));
            }
            let none = BTreeSet::new();
            let found = dependencies.get(id.as_str()).unwrap_or(&none);
            if !found.iter().copied().eq(task.dependencies.iter().map(String::as_str)) {
                return Err(format!("the store has {id} on {found:?}, the requests said {task:?}"));
            }
        }
        if stored.locks.keys().ne(self.files.locked()) {
            return Err(format!(
                "the store has locks on {:?}, the events say {:?}",
                stored.locks.keys(),
                self.files
            ));
        }
        if stored.sequence != self.messages.len() as u64 {
            return Err(format!("the store counts {} messages", stored.sequence));
        }
        Ok(())
    }

    fn compare_members(&self, stored: &Stored) -> Result<(), String> {
        let has_stopped =
            |(handle, member): (&String, &Json)| member["ended"].is_i64() == self.members.stopped.contains(handle);
        let is_alike = stored.members.keys().eq(&self.members.handles)
            && stored.leader == self.members.leader
            && stored.members.iter().all(has_stopped);
        match is_alike {
            true => Ok(()),
            false => Err(format!(
                "the store has the members {:?} of {}, the events say {:?}",
                stored.members, stored.leader, self.members
            )),
        }
    }

    /// The members whose request to leave, hand over or force was accepted have done so, and nobody else has.
    fn compare_deeds(&self) -> Result<(), String> {
        let mut counts: BTreeMap<(String, String), (usize, usize)> = BTreeMap::new();
        for ask in self.asks.values() {
            let Act::Deed(deed) = &ask.act else { continue };
            let (done, unanswered) = counts.entry((ask.handle.clone(), deed.clone())).or_default();
            match ask.reply {
                Reply::Done(_) => *done += 1,
                Reply::Refused(_) => {}
                Reply::Unanswered => *unanswered += 1,
            }
        }
        for deed in counts.keys().chain(self.members.deeds.keys()) {
            let (done, unanswered) = counts.get(deed).copied().unwrap_or_default();
            let times = self.members.deeds.get(deed).copied().unwrap_or_default();
            if !(done..=done + unanswered).contains(&times) {
                return Err(format!(
                    "{deed:?}: {times} times, of which {done} to {} were asked for",
                    done + unanswered
                ));
            }
        }
        Ok(())
    }

    /// The answers to the clients match the events, and every event has a request.
    fn answers(&mut self, bodies: &BTreeMap<u64, String>) -> Result<(), String> {
        let (mut answered, mut unanswered): (BTreeSet<i64>, BTreeMap<&str, usize>) = Default::default();
        for (mark, ask) in &self.asks {
            let wrong = |problem: &str| Err(format!("{problem}: {ask:?}"));
            self.tally.unanswered += usize::from(matches!(ask.reply, Reply::Unanswered));
            match (&ask.act, &ask.reply) {
                (Act::Create(_), Reply::Done(answer)) => {
                    let made = self
                        .created
                        .get(mark)
                        .map(|made| made.values().cloned().collect::<Vec<_>>());
                    if made.unwrap_or_default() != texts(&answer["ids"]).collect::<Vec<_>>() {
                        return wrong("no event tells of these tasks");
                    }
                }
                (Act::Update { .. }, Reply::Done(_)) if !self.updated.contains(mark) => {
                    return wrong("no event tells of this change");
                }
                (Act::Update { id, clears: true, .. }, Reply::Refused(code)) if code == "NOT_CREATOR" => {
                    let made_by = self.origins.get(id).and_then(|(mark, _)| self.asks.get(mark));
                    if made_by.is_some_and(|made| made.handle == ask.handle) {
                        return wrong("who has made the task was refused");
                    }
                }
                (Act::Create(_) | Act::Update { .. }, Reply::Refused(code)) => {
                    self.tally.rings_refused += usize::from(code == "CIRCULAR_DEPENDENCY");
                }
                (Act::Create(_), Reply::Unanswered) => {
                    self.tally.unanswered_but_done += usize::from(self.created.contains_key(mark));
                }
                (Act::Take { with_files }, Reply::Done(answer)) if answer["task"].is_object() => {
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
                        return wrong("its files were not claimed as answered");
                    }
                    answered.insert(token);
                    self.tally.taken += 1;
                    self.tally.taken_with_files += usize::from(!files.is_empty());
                }
                (Act::Take { .. }, Reply::Refused(code)) => {
                    let is_by_files = code == "LOCK_CONFLICT" || code == "FILES_CLAIMED";
                    self.tally.files_in_the_way += usize::from(is_by_files);
                }
                (Act::Take { .. }, Reply::Unanswered) => *unanswered.entry(&ask.handle).or_default() += 1,
                (Act::Complete(id), Reply::Done(_))
                    if !self.deleted.contains(id) && !self.completed_by.contains_key(id) =>
                {
                    return wrong("no event tells of this completion");
                }
                (Act::Send(text) | Act::Idle(text), Reply::Done(answer)) => {
                    let number = answer["id"].as_u64().unwrap_or_default();
                    let is_idle = matches!(ask.act, Act::Idle(_));
                    let sent = self.messages.get((number as usize).wrapping_sub(1));
                    let sent = sent.filter(|sent| sent.from.as_ref() == Some(&ask.handle) && sent.is_idle == is_idle);
                    let Some(sent) = sent.filter(|_| bodies.get(&number) == Some(text)) else {
                        return wrong("no event tells of this message");
                    };
                    if !texts(&answer["ready"]).all(|id| sent.ready.contains(&id)) {
                        return wrong("it names tasks that were not ready");
                    }
                    self.tally.idle += usize::from(is_idle);
                    self.tally.named_ready += texts(&answer["ready"]).count();
                }
                (Act::Send(text) | Act::Idle(text), reply) => {
                    let times = bodies.values().filter(|body| *body == text).count();
                    if times > usize::from(matches!(reply, Reply::Unanswered)) {
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

    /// Each reader got the messages to it, once and in order. A reader that leaves loses its unread messages: the last
    /// ones that were sent to it until then. These stay in the history, and no message is dropped before it was read.
    fn read(&mut self, inboxes: &Inboxes, stored: &Stored) -> Result<(), String> {
        self.tally.messages = self.messages.len();
        let numbered = || (1..).zip(&self.messages);
        for (reader, got) in inboxes {
            let left = self.members.left.get(reader).copied().unwrap_or_default();
            let of_reader: BTreeMap<u64, usize> = numbered()
                .filter_map(|(number, sent)| Some((number, *sent.readers.get(reader)?)))
                .collect();
            let numbers: Vec<u64> = got.iter().map(|(number, _)| *number).collect();
            // How often it had left before -> the last that it got then.
            let last: BTreeMap<usize, u64> = numbers
                .iter()
                .filter_map(|number| Some((*of_reader.get(number)?, *number)))
                .collect();
            let is_due = |(number, times): &(&u64, &usize)| **times == left || last.get(times) >= Some(*number);
            let (due, lost): (Vec<_>, Vec<_>) = of_reader.iter().partition(is_due);
            if due.iter().map(|(number, _)| **number).ne(numbers.iter().copied()) {
                return Err(format!(
                    "{reader} got {numbers:?} of {of_reader:?}, and left {left} times"
                ));
            }
            for (number, _) in lost {
                let is_noted = stored.left.get(number).is_some_and(|left| left.contains(reader));
                if !self.messages[*number as usize - 1].is_broadcast && !is_noted {
                    return Err(format!(
                        "message {number} is not kept as unread by {reader}, who has left"
                    ));
                }
                self.tally.lost += 1;
            }
            self.tally.received += got.len();
        }
        for (number, sent) in numbered() {
            let has_left = |(reader, times): (&String, &usize)| self.members.left.get(reader) > Some(times);
            if !stored.bodies.contains_key(&number) && (sent.is_broadcast || !sent.readers.iter().all(has_left)) {
                return Err(format!("message {number} is gone: {sent:?}"));
            }
        }
        Ok(())
    }
}
