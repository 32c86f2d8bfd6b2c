//! The queue of claims that were refused for others' locks, as far as the log shows it: waiting claims, and reservations.
//! Written from the rules; it shares nothing with the scripts.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::log::{Event, Kind, Locks, Neighbors};
use super::operation::{Holder, Mode, Operation, id_in};
use super::rule::{Rule, Violation, require};

/// Milliseconds that a reservation lasts.
const RESERVED: i64 = 20_000;
/// Milliseconds that a ticket is kept after a refusal.
const KEPT: i64 = 30_000;
/// Milliseconds for which a ticket is overtaken before it holds files back.
const PATIENCE: i64 = 180_000;

/// A claim that was refused, or a reservation for one.
#[derive(Clone, Debug)]
struct Ticket {
    holder: Holder,
    branch: String,
    mode: Mode,
    /// Its files, without shared ones.
    files: BTreeSet<String>,
    /// When it was first refused; a reservation: when it began.
    since: i64,
    /// When it was last refused; a reservation: its last millisecond.
    until: i64,
    /// The request that was refused last.
    request: Option<u64>,
}

/// A request of a holder, which may have withdrawn its tickets.
#[derive(Clone, Debug)]
struct Request {
    holder: Holder,
    id: u64,
    between: (i64, i64),
}

/// Tickets and reservations at a place of the log.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    tickets: Vec<Ticket>,
    reservations: Vec<Ticket>,
    requests: Arc<Vec<Request>>,
    /// Files that several may write at once, without a queue.
    shared: Arc<BTreeSet<String>>,
}

impl Ticket {
    fn is_of(&self, event: &Event) -> bool {
        self.holder == event.holder && self.branch == event.branch
    }

    /// Whether a claim of `files` in `mode` wants one of its files, so that one of them excludes the other.
    fn excludes(&self, branch: &str, files: &BTreeSet<String>, mode: Mode) -> bool {
        let is_written = self.mode == Mode::Writing || mode == Mode::Writing;
        self.branch == branch && is_written && !self.files.is_disjoint(files)
    }

    /// Whether a claim that writes `file` would write a neighbor of its files.
    fn is_near(&self, branch: &str, file: &str, mode: Mode, neighbors: &Neighbors) -> bool {
        let mut near = neighbors.get(file).into_iter().flatten();
        let both_write = self.mode == Mode::Writing && mode == Mode::Writing;
        self.branch == branch && both_write && near.any(|near| self.files.contains(near))
    }

    /// Whether others' locks on its files, or on neighbors, block it.
    fn is_blocked(&self, locks: &Locks, neighbors: &Neighbors, time: i64) -> bool {
        let is_locked = |file: &String, is_near: bool| {
            let entries = locks.get(&(self.branch.clone(), file.clone())).into_iter().flatten();
            let mut others = entries.filter(|entry| entry.holder != self.holder && entry.expiry >= time);
            others.any(|entry| {
                let (wants, has) = (self.mode == Mode::Writing, entry.mode == Mode::Writing);
                if is_near { wants && has } else { wants || has }
            })
        };
        let mut near = self.files.iter().flat_map(|file| neighbors.get(file)).flatten();
        self.files.iter().any(|file| is_locked(file, false)) || near.any(|file| is_locked(file, true))
    }
}

impl Queue {
    /// An empty queue; any of the `operations` may withdraw the tickets of its holder, whether or not the log shows it.
    pub fn with(operations: &[Operation], shared: &BTreeSet<String>) -> Self {
        let requests = operations.iter().map(|operation| Request {
            holder: operation.holder.clone(),
            id: operation.id,
            between: (
                operation.invoked.millisecond,
                operation.returned.map_or(i64::MAX, |moment| moment.millisecond),
            ),
        });
        Queue {
            requests: Arc::new(requests.collect()),
            shared: Arc::new(shared.clone()),
            ..Queue::default()
        }
    }

    /// Whether the holder of `ticket` certainly has done nothing since `time` but its last claim and the request of `event`.
    fn is_idle_since(&self, ticket: &Ticket, time: i64, event: &Event) -> bool {
        let known = [ticket.request, id_in(&event.message)];
        self.requests.iter().all(|request| {
            request.holder != ticket.holder
                || known.contains(&Some(request.id))
                || request.between.1 < time
                || request.between.0 > event.time
        })
    }

    /// The files of `event`, without shared ones.
    fn files_of(&self, event: &Event) -> BTreeSet<String> {
        let files = event.files.iter().filter(|file| !self.shared.contains(*file));
        files.cloned().collect()
    }

    /// Holds `event` against the reservations, and lets it happen. `locks`: those before it; `obstacles`: the files that others'
    /// locks block for a refused claim.
    pub fn apply(
        &mut self,
        event: &Event,
        locks: &Locks,
        obstacles: &BTreeSet<String>,
        neighbors: &Neighbors,
    ) -> Result<(), Violation> {
        let time = event.time;
        self.tickets.retain(|ticket| time <= ticket.until + KEPT);
        self.reservations.retain(|reservation| time <= reservation.until);
        match (event.kind, event.mode) {
            (Kind::Refused, Some(mode)) if event.reason == "CONFLICT" => {
                self.is_founded(event, mode, obstacles, neighbors)?;
                self.end_reservations(event, mode);
                self.ask(event, mode);
            }
            (Kind::Reserved, Some(mode)) => self.reserve(event, mode, locks, neighbors)?,
            (Kind::Granted, Some(mode)) => self.is_granted(event, mode)?,
            (Kind::Released, _) => {
                self.tickets.retain(|ticket| !ticket.is_of(event));
                self.reservations.retain(|reservation| !reservation.is_of(event));
            }
            _ => {}
        }
        Ok(())
    }

    /// A ticket refuses no free file: a claim that no lock stops is stopped by a reservation, or by a ticket that was overtaken for long.
    fn is_founded(
        &self,
        event: &Event,
        mode: Mode,
        obstacles: &BTreeSet<String>,
        neighbors: &Neighbors,
    ) -> Result<(), Violation> {
        let may_have_aged = |ticket: &&Ticket| ticket.until - ticket.since >= PATIENCE;
        for file in event.conflicts.iter().filter(|file| !obstacles.contains(*file)) {
            let one = BTreeSet::from([file.clone()]);
            let aged = self.tickets.iter().filter(may_have_aged);
            let is_held_back = event.files.contains(file)
                && self.reservations.iter().chain(aged).any(|ticket| {
                    let stops = ticket.excludes(&event.branch, &one, mode)
                        || ticket.is_near(&event.branch, file, mode, neighbors);
                    ticket.holder != event.holder && stops
                });
            require(is_held_back, Rule::UnfoundedRefusal, || {
                format!("{file} is free at {event:?}: {:?}", self.reservations)
            })?;
        }
        Ok(())
    }

    /// Nobody has a file that is reserved for another.
    fn is_granted(&mut self, event: &Event, mode: Mode) -> Result<(), Violation> {
        let files = self.files_of(event);
        for reservation in self.reservations.iter().filter(|one| one.holder != event.holder) {
            let is_taken = reservation.excludes(&event.branch, &files, mode)
                && self.is_idle_since(reservation, reservation.since, event);
            require(!is_taken, Rule::Overtaken, || format!("{reservation:?} by {event:?}"))?;
        }
        self.end_reservations(event, mode);
        Ok(())
    }

    /// A claim of the same files ends a reservation, and so does one of other files. One of a part leaves it; a grant may be a part of its
    /// claim. A caller that is granted the files for writing may read them; one that is refused may still ask to read them.
    fn end_reservations(&mut self, event: &Event, mode: Mode) {
        let files = self.files_of(event);
        let has_both = event.kind == Kind::Granted && mode == Mode::Writing;
        self.reservations.retain(|reservation| {
            let is_same = reservation.files == files && (has_both || reservation.mode == mode);
            !reservation.is_of(event) || !is_same && files.is_subset(&reservation.files)
        });
    }

    /// A reservation is for a claim that was refused, all of its files are free, and no claim that has waited longer could have them.
    fn reserve(&mut self, event: &Event, mode: Mode, locks: &Locks, neighbors: &Neighbors) -> Result<(), Violation> {
        let files = self.files_of(event);
        let (time, branch) = (event.time, &event.branch);
        let own = self
            .tickets
            .iter()
            .find(|ticket| ticket.is_of(event) && ticket.mode == mode && ticket.files == files);
        let own = own.ok_or_else(|| Violation {
            rule: Rule::Reservation,
            text: format!("nobody waits: {event:?}"),
        })?;
        let directly = !own.is_blocked(locks, &Neighbors::new(), time);
        require(directly && event.expiry - time == RESERVED, Rule::Reservation, || {
            format!("{own:?} has to wait: {event:?} while {locks:?}")
        })?;
        for reservation in self.reservations.iter().filter(|one| one.holder != event.holder) {
            let is_twice =
                reservation.excludes(branch, &files, mode) && self.is_idle_since(reservation, reservation.since, event);
            require(!is_twice, Rule::Reservation, || {
                format!("reserved twice: {reservation:?} and {event:?}")
            })?;
        }
        for older in self.tickets.iter().filter(|ticket| ticket.since < own.since) {
            let could_have_them = older.holder != event.holder
                && older.excludes(branch, &files, mode)
                && !older.is_blocked(locks, neighbors, time)
                && self.is_idle_since(older, older.until, event)
                && !self
                    .reservations
                    .iter()
                    .any(|one| one.excludes(branch, &older.files, older.mode));
            require(!could_have_them, Rule::Overtaken, || {
                format!("{older:?} waits longer than {event:?}")
            })?;
        }
        let (since, until) = (time, event.expiry);
        let reservation = Ticket {
            since,
            until,
            ..own.clone()
        };
        self.reservations.push(reservation);
        Ok(())
    }

    /// The claim of a refusal waits, if there is room for it, and only for its files.
    fn ask(&mut self, event: &Event, mode: Mode) {
        let files = self.files_of(event);
        self.tickets
            .retain(|ticket| !ticket.is_of(event) || files.is_subset(&ticket.files));
        let is_same = |ticket: &&mut Ticket| ticket.is_of(event) && ticket.mode == mode && ticket.files == files;
        match self.tickets.iter_mut().find(is_same) {
            Some(ticket) => (ticket.until, ticket.request) = (event.time, id_in(&event.message)),
            None => self.tickets.push(Ticket {
                holder: event.holder.clone(),
                branch: event.branch.clone(),
                mode,
                files,
                since: event.time,
                until: event.time,
                request: id_in(&event.message),
            }),
        }
    }
}
