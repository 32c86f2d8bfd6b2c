//! Messages of the files, which have no ids there.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use super::finding::{Change, Finding, Kind, Recipient, digest};
use super::sides::{FileImport, Sides};
use super::{AgreedMessage, AgreedState, SentNumbers, StoreTeam};
use crate::bounds::TEXT_BYTES;
use crate::layout::Entry;
use crate::message::{InboxFile, Message, MessageType};
use crate::names::Handle;
use crate::refusal::quote;
use crate::texts::BROADCAST;

/// The seen messages of an inbox: how many of a message, and their numbers.
type KnownMessages<'a> = HashMap<&'a str, VecDeque<Option<u64>>>;

fn known_messages<'a>(seen: Option<&'a AgreedState>, handle: &Handle) -> KnownMessages<'a> {
    let mut known = KnownMessages::new();
    for message in seen
        .and_then(|seen| seen.inboxes.get(handle.as_str()))
        .into_iter()
        .flatten()
    {
        known.entry(&message.digest).or_default().push_back(message.sequence);
    }
    known
}

/// Without the last seen records, messages of the same words between the same members are the same.
type MessageContent<'a> = (&'a str, bool, MessageType, &'a str);

fn words(message: &Message) -> MessageContent<'_> {
    (&message.from, message.to == BROADCAST, message.kind, &message.message)
}

/// Without the last seen records: messages that the store does not have, although it has a later one of their inbox. It had them
/// once, because it keeps the newest ones only, and they were sent in their order. New messages are behind those that both have.
fn old(sides: &Sides) -> BTreeSet<(Handle, usize)> {
    let mut old = BTreeSet::new();
    if sides.seen.is_some() {
        return old;
    }
    let mut broadcasts: HashSet<String> = HashSet::new();
    let mut unknown = Vec::new();
    for (handle, inbox) in &sides.folder.inboxes {
        let stored = sides.store.inbox(handle);
        let mut unseen = by_words(stored.iter().map(|(sequence, message)| (*sequence, message)));
        let mut before: Vec<(usize, &Message)> = Vec::new();
        for (at, message) in inbox.messages().iter().enumerate() {
            match unseen.get_mut(&words(message)).and_then(VecDeque::pop_front) {
                Some(_) => {
                    for (at, message) in before.drain(..) {
                        if message.to == BROADCAST {
                            broadcasts.insert(digest(message));
                        }
                        old.insert((handle.clone(), at));
                    }
                }
                None => before.push((at, message)),
            }
        }
        unknown.extend(before.into_iter().map(|(at, message)| (handle, at, message)));
    }
    // Each inbox has a copy of a broadcast.
    let copies = unknown
        .into_iter()
        .filter(|(_, _, message)| message.to == BROADCAST && broadcasts.contains(&digest(message)));
    old.extend(copies.map(|(handle, at, _)| (handle.clone(), at)));
    old
}

/// The numbers of messages, in their order.
fn by_words<'a>(messages: impl Iterator<Item = (u64, &'a Message)>) -> HashMap<MessageContent<'a>, VecDeque<u64>> {
    let mut numbers: HashMap<MessageContent, VecDeque<u64>> = HashMap::new();
    for (sequence, message) in messages {
        numbers.entry(words(message)).or_default().push_back(sequence);
    }
    numbers
}

/// Messages that only the files have, and how far each inbox of this login is read.
pub fn import_files(sides: &Sides, found: &mut FileImport) {
    found.old = old(sides);
    let mut broadcasts: HashMap<String, usize> = HashMap::new();
    let mut sends = Vec::new();
    for (handle, inbox) in &sides.folder.inboxes {
        let mut known = known_messages(sides.seen, handle);
        let stored = sides.store.inbox(handle);
        let mut unseen = match sides.seen {
            None => by_words(stored.iter().map(|(sequence, message)| (*sequence, message))),
            Some(_) => HashMap::new(),
        };
        let mut here: HashMap<String, usize> = HashMap::new();
        let mut read = HashSet::new();
        for (at, message) in inbox.messages().iter().enumerate() {
            let digest = digest(message);
            let count = here.entry(digest.clone()).or_default();
            *count += 1;
            if let Some(sequence) = known.get_mut(digest.as_str()).and_then(VecDeque::pop_front) {
                read.extend(sequence.filter(|_| message.read));
                continue;
            }
            if let Some(sequence) = unseen.get_mut(&words(message)).and_then(VecDeque::pop_front) {
                read.extend(Some(sequence).filter(|_| message.read));
                continue;
            }
            if found.old.contains(&(handle.clone(), at)) {
                continue;
            }
            if message.to == BROADCAST {
                // Every inbox has a copy; the first one that is new speaks for all.
                let before = broadcasts
                    .get(&digest)
                    .copied()
                    .unwrap_or_default()
                    .max(seen_anywhere(sides.seen, &digest));
                if *count <= before {
                    continue;
                }
                broadcasts.insert(digest.clone(), *count);
            }
            match send(sides, handle, message, digest, found) {
                Ok(Some(send)) => sends.push((&message.timestamp, send)),
                Ok(None) => drop(found.settled.insert((handle.clone(), at))),
                Err((kind, field, sentence)) => {
                    let entry = Entry::Inbox(sides.store.name.clone(), handle.clone());
                    let field = format!("[{at}].{field}");
                    found.findings.push(Finding::new(kind, &entry, field, sentence));
                    found.settled.insert((handle.clone(), at));
                }
            }
        }
        if let Some(member) = sides.store.members.get(handle).filter(|member| member.ours) {
            let unread = stored
                .iter()
                .map(|(sequence, _)| *sequence)
                .filter(|sequence| *sequence > member.read_to);
            if let Some(last) = unread.take_while(|sequence| read.contains(sequence)).last() {
                found.changes.push(Change::ReadTo(handle.clone(), last));
            }
        }
    }
    // One order for the team, as close to the events as the files show.
    sends.sort_by_key(|(timestamp, _)| *timestamp);
    found.changes.extend(sends.into_iter().map(|(_, send)| send));
}

fn seen_anywhere(seen: Option<&AgreedState>, digest: &str) -> usize {
    let of_inbox = |messages: &Vec<AgreedMessage>| messages.iter().filter(|message| message.digest == digest).count();
    seen.iter()
        .flat_map(|seen| seen.inboxes.values())
        .map(of_inbox)
        .max()
        .unwrap_or_default()
}

/// The call for a message; none for those of a shutdown, whose calls follow from the configuration.
fn send(
    sides: &Sides,
    inbox: &Handle,
    message: &Message,
    digest: String,
    found: &FileImport,
) -> Result<Option<Change>, (Kind, &'static str, String)> {
    if message.kind.is_of_shutdown() {
        return Ok(None);
    }
    let Some(from) = found.speaker(sides.store, &message.from) else {
        let sentence = format!(
            "{} is no handle of this login, which cannot speak for it",
            quote(&message.from)
        );
        return Err((Kind::Foreign, "from", sentence));
    };
    let to = if message.to == BROADCAST {
        Recipient::All
    } else if message.to == inbox.as_str() {
        Recipient::One(inbox.clone())
    } else {
        return Err((
            Kind::NotByFile,
            "to",
            format!("this is not the inbox of {}", quote(&message.to)),
        ));
    };
    let longest = message
        .message
        .len()
        .max(message.summary.as_ref().map_or(0, String::len));
    if longest > TEXT_BYTES {
        return Err((
            Kind::Bounds,
            "message",
            format!("a message has {TEXT_BYTES} bytes at most"),
        ));
    }
    Ok(Some(Change::Send {
        from,
        to,
        kind: message.kind,
        message: message.message.clone(),
        summary: message.summary.clone(),
        digest,
    }))
}

/// An inbox as it is to be.
pub struct ExportedInbox {
    /// The store's messages, behind those of the file.
    pub inbox: InboxFile,
    here: Vec<AgreedMessage>,
    /// Messages that were removed from the file, and that the store still has.
    out: Vec<AgreedMessage>,
    /// Messages that the file lacks.
    added: Vec<AgreedMessage>,
}

impl ExportedInbox {
    /// The seen messages if the file is written.
    pub fn seen(mut self) -> Vec<AgreedMessage> {
        self.out.retain(|message| !self.added.contains(message));
        [self.here, self.out, self.added].concat()
    }

    /// The seen messages if it is not.
    pub fn seen_unwritten(self) -> Vec<AgreedMessage> {
        [self.here, self.out].concat()
    }
}

/// The inbox of the store, behind that of the file.
pub fn write(
    seen: Option<&AgreedState>,
    sent: &SentNumbers,
    taken: &FileImport,
    file: Option<&InboxFile>,
    store: &StoreTeam,
    handle: &Handle,
) -> ExportedInbox {
    let mut inbox = file.cloned().unwrap_or_default();
    let stored: BTreeMap<u64, Message> = store.inbox(handle).into_iter().collect();
    let mut known = known_messages(seen, handle);
    let mut new = sent.clone();
    // Messages that were removed from the file do not come back; a missing file is written anew.
    let before = known.values().flatten().copied().flatten().filter(|_| file.is_some());
    let mut used: HashSet<u64> = before.collect();
    let mut after: Vec<AgreedMessage> = Vec::new();
    let mut loose: Vec<usize> = Vec::new();
    for (at, message) in inbox.messages().iter().enumerate() {
        let digest = digest(message);
        let before = known.get_mut(digest.as_str()).and_then(VecDeque::pop_front);
        let sequence = match before {
            Some(sequence) => sequence,
            None => new.get_mut(&digest).and_then(VecDeque::pop_front),
        };
        used.extend(sequence);
        if before.is_none() && sequence.is_none() && (seen.is_none() || message.kind.is_of_shutdown()) {
            loose.push(at);
        }
        after.push(AgreedMessage { digest, sequence });
    }
    // Same words: the file's message is the store's.
    let free = stored.iter().filter(|(sequence, _)| !used.contains(sequence));
    let mut unseen = by_words(free.map(|(sequence, message)| (*sequence, message)));
    for at in loose {
        let sequence = unseen
            .get_mut(&words(&inbox.messages()[at]))
            .and_then(VecDeque::pop_front);
        after[at].sequence = sequence;
        used.extend(sequence);
    }
    for (at, message) in after.iter().enumerate() {
        let read = message
            .sequence
            .and_then(|sequence| stored.get(&sequence))
            .is_some_and(|message| message.read);
        if read && !inbox.messages()[at].read {
            inbox.mark_read(at);
        }
    }
    // A message that the store did not take, and that was not settled, is new the next time too.
    let was_known: KnownMessages = known_messages(seen, handle);
    let mut at = 0;
    after.retain(|message| {
        at += 1;
        message.sequence.is_some()
            || taken.is_settled(handle, at - 1)
            || was_known.contains_key(message.digest.as_str())
    });
    let of_inbox = seen.and_then(|seen| seen.inboxes.get(handle.as_str()));
    let in_file: HashSet<u64> = after.iter().filter_map(|message| message.sequence).collect();
    let is_out = |message: &&AgreedMessage| {
        let sequence = message.sequence.filter(|sequence| stored.contains_key(sequence));
        sequence.is_some_and(|sequence| !in_file.contains(&sequence))
    };
    let out = of_inbox.into_iter().flatten().filter(is_out).cloned().collect();
    let mut added = Vec::new();
    for (sequence, message) in stored.iter().filter(|(sequence, _)| !used.contains(sequence)) {
        added.push(AgreedMessage {
            digest: digest(message),
            sequence: Some(*sequence),
        });
        inbox.push(message.clone());
    }
    ExportedInbox {
        inbox,
        here: after,
        out,
        added,
    }
}
