//! The queue of claims that were refused for others' locks, as far as the log shows it: who certainly has a ticket, and who may
//! have one. Written from the rules; it shares nothing with the scripts.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::log::{Event, Kind};
use super::model::{Locks, Neighbors, Rule, Violation, require};
use super::operation::{Act, Holder, Mode, Operation};

/// Milliseconds that a reservation lasts at least after a refusal, when the files were not free.
const RESERVED: i64 = 20_000;
/// Milliseconds that a ticket is kept at least, and at most.
const KEPT: (i64, i64) = (30_000, 300_000);
/// Tickets of a repository, of a person and of a holder.
const MOST: (usize, usize, usize) = (64, 16, 4);

#[derive(Clone, Debug)]
struct Ticket {
    holder: Holder,
    branch: String,
    mode: Mode,
    /// What the claim names.
    named: BTreeSet<String>,
    /// The same without shared files.
    files: BTreeSet<String>,
    /// Neighbors of the files that others wrote when it was refused.
    near: BTreeSet<String>,
    /// Its number in the order of tickets lies between these.
    order: (u64, u64),
    asked: i64,
    wait: i64,
    /// Whether it certainly was there when it was asked for.
    is_certain: bool,
}

/// A release, which gives up the tickets for its files.
#[derive(Clone, Debug)]
struct GivenUp {
    holder: Holder,
    branch: String,
    files: BTreeSet<String>,
    between: (i64, i64),
}

/// The tickets at a place of the log.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    tickets: Vec<Ticket>,
    newest: u64,
    given_up: Arc<Vec<GivenUp>>,
    /// Files that several may write at once: nobody waits for them.
    shared: Arc<BTreeSet<String>>,
}

impl Ticket {
    fn may_live(&self, time: i64) -> bool {
        let kept = (3 * self.wait).clamp(KEPT.0, KEPT.1);
        time <= self.asked + kept
    }

    /// Whether a claim of `file` in `mode` comes after it.
    fn wants(&self, branch: &str, file: &str, mode: Mode) -> bool {
        let both_read = mode == Mode::Reading && self.mode == Mode::Reading;
        let both_write = mode == Mode::Writing && self.mode == Mode::Writing;
        self.branch == branch && (self.files.contains(file) && !both_read || self.near.contains(file) && both_write)
    }

    /// The holders whose locks it waits for.
    fn holders(&self, locks: &Locks, time: i64) -> BTreeSet<Holder> {
        let mut holders = BTreeSet::new();
        for (is_near, files) in [(false, &self.files), (true, &self.near)] {
            for file in files {
                let entries = locks.get(&(self.branch.clone(), file.clone())).into_iter().flatten();
                let blocking = entries.filter(|entry| {
                    let is_other = entry.holder != self.holder && entry.expiry >= time;
                    let writes = (self.mode == Mode::Writing, entry.mode == Mode::Writing);
                    is_other
                        && if is_near {
                            writes == (true, true)
                        } else {
                            writes.0 || writes.1
                        }
                });
                holders.extend(blocking.map(|entry| entry.holder.clone()));
            }
        }
        holders
    }
}

impl Queue {
    /// An empty queue; the releases of `operations` give tickets up, whether or not the log shows them.
    pub fn with(operations: &[Operation], shared: &BTreeSet<String>) -> Self {
        let releases = operations.iter().filter(|operation| operation.act == Act::Release);
        let given_up = releases.map(|release| GivenUp {
            holder: release.holder.clone(),
            branch: release.branch.clone(),
            files: release.files.iter().cloned().collect(),
            between: (
                release.invoked.millisecond,
                release.returned.map_or(i64::MAX, |moment| moment.millisecond),
            ),
        });
        Queue {
            given_up: Arc::new(given_up.collect()),
            shared: Arc::new(shared.clone()),
            ..Queue::default()
        }
    }

    fn is_given_up(&self, ticket: &Ticket, time: i64) -> bool {
        self.given_up.iter().any(|release| {
            release.holder == ticket.holder
                && release.branch == ticket.branch
                && release.between.0 <= time
                && release.between.1 >= ticket.asked
                && !release.files.is_disjoint(&ticket.files)
        })
    }

    /// Whether `ticket` certainly is there: a reservation may end, but not so soon after a refusal.
    fn is_there(&self, ticket: &Ticket, time: i64) -> bool {
        ticket.is_certain && time <= ticket.asked + RESERVED && !self.is_given_up(ticket, time)
    }

    /// What `event` is about, without shared files.
    fn files_of(&self, event: &Event) -> BTreeSet<String> {
        let files = event.files.iter().filter(|file| !self.shared.contains(*file));
        files.cloned().collect()
    }

    fn own(&self, event: &Event, mode: Mode) -> Option<usize> {
        let named: BTreeSet<String> = event.files.iter().cloned().collect();
        let is_own = |ticket: &Ticket| {
            ticket.holder == event.holder
                && ticket.branch == event.branch
                && ticket.mode == mode
                && ticket.named == named
        };
        self.tickets.iter().position(is_own)
    }

    /// Whether `ticket` may wait for a lock of `holder`, directly or through others: then the holder need not wait for it.
    fn may_wait_for(&self, ticket: &Ticket, holder: &Holder, locks: &Locks, time: i64) -> bool {
        let (mut pending, mut seen) = (vec![ticket], BTreeSet::from([ticket.order]));
        while let Some(ticket) = pending.pop() {
            let holders = ticket.holders(locks, time);
            if holders.contains(holder) {
                return true;
            }
            for other in self.tickets.iter().filter(|other| other.may_live(time)) {
                let mut files = ticket.files.iter();
                let is_before = other.order.0 < ticket.order.1
                    && other.holder != ticket.holder
                    && files.any(|file| other.wants(&ticket.branch, file, ticket.mode));
                if (is_before || holders.contains(&other.holder)) && seen.insert(other.order) {
                    pending.push(other);
                }
            }
        }
        false
    }

    /// Holds `event` against the tickets before it, and lets it happen. `locks`: those before it; `obstacles`: what others' locks
    /// keep a refused claim from.
    pub fn apply(
        &mut self,
        event: &Event,
        locks: &Locks,
        obstacles: &BTreeSet<String>,
        neighbors: &Neighbors,
    ) -> Result<(), Violation> {
        let time = event.time;
        self.tickets.retain(|ticket| ticket.may_live(time));
        match (event.kind, event.mode) {
            (Kind::Refused, Some(mode)) if event.reason == "CONFLICT" => {
                self.founds(event, mode, obstacles)?;
                self.ask(event, mode, obstacles, neighbors);
            }
            (Kind::Granted, Some(mode)) => self.is_first(event, mode, locks)?,
            (Kind::Released, _) => {
                let files = self.files_of(event);
                self.tickets.retain(|ticket| {
                    ticket.holder != event.holder || ticket.branch != event.branch || ticket.files.is_disjoint(&files)
                });
            }
            _ => {}
        }
        if let (Kind::Granted | Kind::Renewed, Some(mode)) = (event.kind, event.mode) {
            for ticket in &mut self.tickets {
                let is_own = ticket.holder == event.holder && ticket.branch == event.branch;
                if is_own && (mode == Mode::Writing || ticket.mode == mode) {
                    // It ends with a claim of all of its files, of which this may be a part.
                    ticket.is_certain = false;
                }
            }
        }
        Ok(())
    }

    /// A claim that others' locks do not stop is stopped by a claim before it.
    fn founds(&self, event: &Event, mode: Mode, obstacles: &BTreeSet<String>) -> Result<(), Violation> {
        let own = self.own(event, mode).map(|own| &self.tickets[own]);
        let own = own
            .filter(|own| self.is_there(own, event.time))
            .map_or(u64::MAX, |own| own.order.1);
        for file in event.conflicts.iter().filter(|file| !obstacles.contains(*file)) {
            let is_reserved = event.files.contains(file)
                && self.tickets.iter().any(|ticket| {
                    ticket.order.0 < own && ticket.holder != event.holder && ticket.wants(&event.branch, file, mode)
                });
            require(is_reserved, Rule::UnfoundedRefusal, || {
                format!("nobody waits for {file} before {event:?}: {:?}", self.tickets)
            })?;
        }
        Ok(())
    }

    /// Nobody is overtaken.
    fn is_first(&self, event: &Event, mode: Mode, locks: &Locks) -> Result<(), Violation> {
        // Parts of a claim are renewed, so its own ticket may be for more files than the event has.
        let own = self.tickets.iter().filter(|ticket| {
            ticket.holder == event.holder
                && ticket.branch == event.branch
                && ticket.mode == mode
                && event.files.iter().all(|file| ticket.named.contains(file))
        });
        let own = own.map(|ticket| ticket.order.0).min().unwrap_or(u64::MAX);
        for ticket in &self.tickets {
            let is_before = ticket.order.1 < own && ticket.holder != event.holder && self.is_there(ticket, event.time);
            let mut files = event.files.iter();
            let is_overtaken = is_before
                && files.any(|file| ticket.wants(&event.branch, file, mode))
                && !self.may_wait_for(ticket, &event.holder, locks, event.time);
            require(!is_overtaken, Rule::Overtaken, || format!("{ticket:?} by {event:?}"))?;
        }
        Ok(())
    }

    /// The claim of a refusal has a place.
    fn ask(&mut self, event: &Event, mode: Mode, obstacles: &BTreeSet<String>, neighbors: &Neighbors) {
        let (holder, time) = (&event.holder, event.time);
        self.newest += 1;
        let place = self.own(event, mode).unwrap_or_else(|| {
            let count = |is_one: &dyn Fn(&Ticket) -> bool| self.tickets.iter().filter(|ticket| is_one(ticket)).count();
            let of_holder = count(&|ticket| ticket.holder == *holder);
            let has_room = self.tickets.len() < MOST.0 && count(&|ticket| ticket.holder.user == holder.user) < MOST.1;
            if of_holder >= MOST.2 {
                // The oldest goes, but which of them are there is not known.
                for ticket in self.tickets.iter_mut().filter(|ticket| ticket.holder == *holder) {
                    ticket.is_certain = false;
                }
            }
            self.tickets.push(Ticket {
                holder: holder.clone(),
                branch: event.branch.clone(),
                mode,
                named: event.files.iter().cloned().collect(),
                files: self.files_of(event),
                near: BTreeSet::new(),
                order: (self.newest, self.newest),
                asked: time,
                wait: 0,
                is_certain: has_room,
            });
            self.tickets.len() - 1
        });
        let was_there = self.is_there(&self.tickets[place], time);
        let (newest, has_room) = (self.newest, self.tickets.len() <= MOST.1);
        let ticket = &mut self.tickets[place];
        if !was_there {
            ticket.order.1 = newest;
            ticket.is_certain = has_room;
        }
        (ticket.wait, ticket.asked) = (time - ticket.asked, time);
        let near = |file: &&String| {
            event
                .files
                .iter()
                .any(|own| neighbors.get(own).is_some_and(|near| near.contains(*file)))
        };
        ticket.near.extend(
            obstacles
                .iter()
                .filter(|file| !event.files.contains(file))
                .filter(near)
                .cloned(),
        );
    }
}
