//! Messages in the files, where they have no ids.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use super::finding::{Change, FindingKind, Recipient, digest};
use super::sides::{FileImport, Sides};
use super::{AgreedMessage, AgreedState, SentNumbers, StoreTeam};
use crate::bounds::TEXT_BYTES;
use crate::layout::Entry;
use crate::message::{InboxFile, Message, MessageType};
use crate::names::Handle;
use crate::refusal::quote;
use crate::texts::BROADCAST;

/// The numbers of the seen messages of an inbox, by digest. Equal messages are in the order of the file.
type SeenNumbers<'a> = HashMap<&'a str, VecDeque<Option<u64>>>;

fn seen_numbers<'a>(seen: Option<&'a AgreedState>, handle: &Handle) -> SeenNumbers<'a> {
    let mut numbers = SeenNumbers::new();
    let messages = seen.and_then(|seen| seen.inboxes.get(handle.as_str()));
    for message in messages.into_iter().flatten() {
        numbers.entry(&message.digest).or_default().push_back(message.sequence);
    }
    numbers
}

/// Without the last seen records, messages with the same content between the same members are the same message.
type MessageContent<'a> = (&'a str, bool, MessageType, &'a str);

fn content(message: &Message) -> MessageContent<'_> {
    (&message.from, message.to == BROADCAST, message.kind, &message.message)
}

/// Without the last seen records: messages that the store does not have, although it has a later one of their inbox. It
/// had them once, because it keeps only the newest ones, and messages are sent in order. New messages come after those
/// that both have.
fn old_messages(sides: &Sides) -> BTreeSet<(Handle, usize)> {
    let mut old = BTreeSet::new();
    if sides.seen.is_some() {
        return old;
    }
    let mut broadcasts: HashSet<String> = HashSet::new();
    let mut unmatched = Vec::new();
    for (handle, inbox) in &sides.folder.inboxes {
        let stored = sides.store.inbox(handle);
        let mut numbers = numbers_by_content(stored.iter().map(|(sequence, message)| (*sequence, message)));
        let mut before: Vec<(usize, &Message)> = Vec::new();
        for (index, message) in inbox.messages().iter().enumerate() {
            match numbers.get_mut(&content(message)).and_then(VecDeque::pop_front) {
                Some(_) => {
                    for (index, message) in before.drain(..) {
                        if message.to == BROADCAST {
                            broadcasts.insert(digest(message));
                        }
                        old.insert((handle.clone(), index));
                    }
                }
                None => before.push((index, message)),
            }
        }
        unmatched.extend(before.into_iter().map(|(index, message)| (handle, index, message)));
    }
    // Each inbox has a copy of a broadcast.
    let copies = unmatched
        .into_iter()
        .filter(|(_, _, message)| message.to == BROADCAST && broadcasts.contains(&digest(message)));
    old.extend(copies.map(|(handle, index, _)| (handle.clone(), index)));
    old
}

/// The numbers of messages. Equal messages keep their order.
fn numbers_by_content<'a>(
    messages: impl Iterator<Item = (u64, &'a Message)>,
) -> HashMap<MessageContent<'a>, VecDeque<u64>> {
    let mut numbers: HashMap<MessageContent, VecDeque<u64>> = HashMap::new();
    for (sequence, message) in messages {
        numbers.entry(content(message)).or_default().push_back(sequence);
    }
    numbers
}

/// Imports messages that only the files have, and how far each inbox of this login is read.
pub fn import_messages(sides: &Sides, import: &mut FileImport) {
    import.old = old_messages(sides);
    let mut broadcasts: HashMap<String, usize> = HashMap::new();
    let mut sends = Vec::new();
    for (handle, inbox) in &sides.folder.inboxes {
        let mut seen = seen_numbers(sides.seen, handle);
        let stored = sides.store.inbox(handle);
        let mut unseen = match sides.seen {
            None => numbers_by_content(stored.iter().map(|(sequence, message)| (*sequence, message))),
            Some(_) => HashMap::new(),
        };
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mut read = HashSet::new();
        for (index, message) in inbox.messages().iter().enumerate() {
            let digest = digest(message);
            let count = counts.entry(digest.clone()).or_default();
            *count += 1;
            if let Some(sequence) = seen.get_mut(digest.as_str()).and_then(VecDeque::pop_front) {
                read.extend(sequence.filter(|_| message.read));
                continue;
            }
            if let Some(sequence) = unseen.get_mut(&content(message)).and_then(VecDeque::pop_front) {
                read.extend(Some(sequence).filter(|_| message.read));
                continue;
            }
            if import.old.contains(&(handle.clone(), index)) {
                continue;
            }
            if message.to == BROADCAST {
                // Every inbox has a copy. Only the first new copy is sent.
                let before = broadcasts
                    .get(&digest)
                    .copied()
                    .unwrap_or_default()
                    .max(most_seen_copies(sides.seen, &digest));
                if *count <= before {
                    continue;
                }
                broadcasts.insert(digest.clone(), *count);
            }
            match send_change(sides, handle, message, digest, import) {
                Ok(Some(send)) => sends.push((&message.timestamp, send)),
                Ok(None) => drop(import.settled.insert((handle.clone(), index))),
                Err((kind, field, sentence)) => {
                    let entry = Entry::Inbox(sides.store.name.clone(), handle.clone());
                    import.report(kind, &entry, format!("[{index}].{field}"), sentence);
                    import.settled.insert((handle.clone(), index));
                }
            }
        }
        if let Some(member) = sides.store.members.get(handle).filter(|member| member.ours) {
            let unread = stored
                .iter()
                .map(|(sequence, _)| *sequence)
                .filter(|sequence| *sequence > member.read_to);
            if let Some(last) = unread.take_while(|sequence| read.contains(sequence)).last() {
                import.changes.push(Change::ReadTo(handle.clone(), last));
            }
        }
    }
    // One order for the whole team, as close to the events as the timestamps in the files allow.
    sends.sort_by_key(|(timestamp, _)| *timestamp);
    import.changes.extend(sends.into_iter().map(|(_, send)| send));
}

/// How many messages with this digest the inbox with most of them had when it was last seen.
fn most_seen_copies(seen: Option<&AgreedState>, digest: &str) -> usize {
    let count = |messages: &Vec<AgreedMessage>| messages.iter().filter(|message| message.digest == digest).count();
    seen.iter()
        .flat_map(|seen| seen.inboxes.values())
        .map(count)
        .max()
        .unwrap_or_default()
}

/// The call for a message. `None` for messages of a shutdown, whose calls follow from the configuration.
fn send_change(
    sides: &Sides,
    inbox: &Handle,
    message: &Message,
    digest: String,
    import: &FileImport,
) -> Result<Option<Change>, (FindingKind, &'static str, String)> {
    if message.kind.is_of_shutdown() {
        return Ok(None);
    }
    let Some(from) = import.speaker(sides.store, &message.from) else {
        let sentence = format!(
            "{} is not a handle of this login, which cannot speak for it",
            quote(&message.from)
        );
        return Err((FindingKind::Foreign, "from", sentence));
    };
    let to = if message.to == BROADCAST {
        Recipient::All
    } else if message.to == inbox.as_str() {
        Recipient::One(inbox.clone())
    } else {
        return Err((
            FindingKind::NotByFile,
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
            FindingKind::Bounds,
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

/// An inbox to write.
pub struct ExportedInbox {
    /// The messages of the file, then those that only the store has.
    pub inbox: InboxFile,
    in_file: Vec<AgreedMessage>,
    /// Messages that were removed from the file, and that the store still has.
    removed: Vec<AgreedMessage>,
    /// Messages that only the store has.
    added: Vec<AgreedMessage>,
}

impl ExportedInbox {
    /// The seen messages if the file is written.
    pub fn seen(mut self) -> Vec<AgreedMessage> {
        self.removed.retain(|message| !self.added.contains(message));
        [self.in_file, self.removed, self.added].concat()
    }

    /// The seen messages if the file is not written.
    pub fn seen_unwritten(self) -> Vec<AgreedMessage> {
        [self.in_file, self.removed].concat()
    }
}

/// Appends the messages of the store to those of the file.
pub fn export_inbox(
    seen: Option<&AgreedState>,
    sent: &SentNumbers,
    import: &FileImport,
    file: Option<&InboxFile>,
    store: &StoreTeam,
    handle: &Handle,
) -> ExportedInbox {
    let mut inbox = file.cloned().unwrap_or_default();
    let stored: BTreeMap<u64, Message> = store.inbox(handle).into_iter().collect();
    let mut seen_numbers = seen_numbers(seen, handle);
    let mut sent = sent.clone();
    // Messages that were removed from the file do not come back. A missing file is written with all messages.
    let numbers = seen_numbers.values().flatten().copied().flatten();
    let mut used: HashSet<u64> = numbers.filter(|_| file.is_some()).collect();
    let mut in_file: Vec<AgreedMessage> = Vec::new();
    let mut unmatched: Vec<usize> = Vec::new();
    for (index, message) in inbox.messages().iter().enumerate() {
        let digest = digest(message);
        let seen_number = seen_numbers.get_mut(digest.as_str()).and_then(VecDeque::pop_front);
        let sequence = match seen_number {
            Some(sequence) => sequence,
            None => sent.get_mut(&digest).and_then(VecDeque::pop_front),
        };
        used.extend(sequence);
        if seen_number.is_none() && sequence.is_none() && (seen.is_none() || message.kind.is_of_shutdown()) {
            unmatched.push(index);
        }
        in_file.push(AgreedMessage { digest, sequence });
    }
    // A message of the file with the same content as one of the store is that message.
    let free = stored.iter().filter(|(sequence, _)| !used.contains(sequence));
    let mut free = numbers_by_content(free.map(|(sequence, message)| (*sequence, message)));
    for index in unmatched {
        let sequence = free
            .get_mut(&content(&inbox.messages()[index]))
            .and_then(VecDeque::pop_front);
        in_file[index].sequence = sequence;
        used.extend(sequence);
    }
    mark_read(&mut inbox, &in_file, &stored);
    // A message that the store did not accept, and that is not settled, is new the next time, too.
    let mut index = 0;
    in_file.retain(|message| {
        index += 1;
        message.sequence.is_some()
            || import.is_settled(handle, index - 1)
            || seen_numbers.contains_key(message.digest.as_str())
    });
    let seen_messages = seen.and_then(|seen| seen.inboxes.get(handle.as_str()));
    let removed = removed_messages(seen_messages, &in_file, &stored);
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
        in_file,
        removed,
        added,
    }
}

/// Marks the messages of the file that are read in the store. `in_file` has their numbers.
fn mark_read(inbox: &mut InboxFile, in_file: &[AgreedMessage], stored: &BTreeMap<u64, Message>) {
    for (index, message) in in_file.iter().enumerate() {
        let is_read = message
            .sequence
            .and_then(|sequence| stored.get(&sequence))
            .is_some_and(|message| message.read);
        if is_read && !inbox.messages()[index].read {
            inbox.mark_read(index);
        }
    }
}

/// The seen messages that the store still has, and the file no longer.
fn removed_messages(
    seen: Option<&Vec<AgreedMessage>>,
    in_file: &[AgreedMessage],
    stored: &BTreeMap<u64, Message>,
) -> Vec<AgreedMessage> {
    let numbers: HashSet<u64> = in_file.iter().filter_map(|message| message.sequence).collect();
    let is_removed = |message: &&AgreedMessage| {
        let sequence = message.sequence.filter(|sequence| stored.contains_key(sequence));
        sequence.is_some_and(|sequence| !numbers.contains(&sequence))
    };
    seen.into_iter().flatten().filter(is_removed).cloned().collect()
}
