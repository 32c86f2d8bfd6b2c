//! The open connections of a process: how many there may be, also from one address, and which of them is cut off for a
//! new one.
//!
//! No client can keep others out by holding connections. A connection that waits for its client (for a request, for a
//! body, or for a response to be read) is cut off when a new one needs its slot, the longest wait first. Other
//! connections end by themselves. A request that the server works on ends within the time limit of the edge. The stream
//! of a verified caller may stay open, and each caller may have only a bounded number.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use coord_http::OpenConnection;
use coord_settings::connections::{ConnectionConfig, network};
use coord_settings::env_vars;
use futures::task::AtomicWaker;
use parking_lot::Mutex;
use tokio::sync::watch;

/// The phase of a connection. Those before [`Phase::Working`] are cut off for new connections, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The server waits for a request, or for the rest of its head.
    Idle,
    /// The server waits for the body of a request.
    Receiving,
    /// The server waits for the client to read the response.
    Responding,
    /// The server works on the request.
    Working,
}

/// The limit that a refused connection would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionLimit {
    /// The limit of the address: all its slots are taken, and none of its connections waits.
    Address,
    /// The limit of the process: all slots are taken, and no connection waits.
    Process,
}

impl ConnectionLimit {
    /// The environment variable that sets the limit.
    pub fn variable(self) -> &'static str {
        match self {
            ConnectionLimit::Address => env_vars::COORD_MAX_CONNECTIONS_PER_ADDRESS,
            ConnectionLimit::Process => env_vars::COORD_MAX_CONNECTIONS,
        }
    }
}

/// A slot for each open connection of a process.
#[derive(Debug)]
pub struct ConnectionSlots {
    config: ConnectionConfig,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    open: HashMap<u64, Entry>,
    /// The number of connections of each address that has a limit.
    count_by_address: HashMap<IpAddr, usize>,
    /// The waiting connections in the order in which they are cut off.
    waiting: BTreeMap<(Phase, u64), u64>,
    /// The same for each address.
    waiting_by_address: BTreeMap<(IpAddr, Phase, u64), u64>,
    /// Grows with each connection and with each change of a phase.
    counter: u64,
}

#[derive(Debug)]
struct Entry {
    /// The address whose limit the connection counts for.
    address: Option<IpAddr>,
    phase: Phase,
    /// The counter at the start of the phase.
    since: u64,
    /// The connection is the stream of a verified caller, until its next request.
    is_protected: bool,
    cutoff: Arc<Cutoff>,
}

impl ConnectionSlots {
    /// Slots for as many connections as `config` allows.
    pub fn new(config: ConnectionConfig) -> Arc<ConnectionSlots> {
        Arc::new(ConnectionSlots {
            config,
            table: Mutex::default(),
        })
    }

    /// A slot for a connection from `peer`. If none is free, this cuts off the connection that has waited longest. The
    /// slot drops `open` when the connection ends.
    ///
    /// # Errors
    /// When no connection waits.
    pub fn take(
        self: &Arc<Self>,
        peer: IpAddr,
        open: watch::Receiver<()>,
    ) -> Result<Arc<ConnectionSlot>, ConnectionLimit> {
        let mut table = self.table.lock();
        let address = self.config.is_counted(peer).then(|| network(peer));
        if let Some(address) = address
            && table.count_by_address.get(&address).copied().unwrap_or_default() >= self.config.max_per_address
        {
            let mut waiting = table.waiting_by_address.range((address, Phase::Idle, 0)..);
            let first = waiting.next().filter(|((other, ..), _)| *other == address);
            let id = first.map(|(_, id)| *id);
            table.cut_off(id.ok_or(ConnectionLimit::Address)?);
        }
        if table.open.len() >= self.config.max_connections {
            let id = table.waiting.first_key_value().map(|(_, id)| *id);
            table.cut_off(id.ok_or(ConnectionLimit::Process)?);
        }
        let cutoff = Arc::new(Cutoff::default());
        let id = table.next_number();
        if let Some(address) = address {
            *table.count_by_address.entry(address).or_default() += 1;
        }
        let entry = Entry {
            address,
            phase: Phase::Working,
            since: id,
            is_protected: false,
            cutoff: Arc::clone(&cutoff),
        };
        table.open.insert(id, entry);
        table.change(id, |entry| entry.phase = Phase::Idle);
        Ok(Arc::new(ConnectionSlot {
            slots: Arc::clone(self),
            id,
            cutoff,
            _open: open,
        }))
    }
}

impl Table {
    fn next_number(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    /// Changes the connection `id`, and moves it to the end of those in its phase.
    fn change(&mut self, id: u64, change: impl FnOnce(&mut Entry)) {
        let now = self.next_number();
        let Some(entry) = self.open.get_mut(&id) else {
            // It was cut off.
            return;
        };
        self.waiting.remove(&(entry.phase, entry.since));
        if let Some(address) = entry.address {
            self.waiting_by_address.remove(&(address, entry.phase, entry.since));
        }
        change(entry);
        entry.since = now;
        if entry.phase < Phase::Working && !entry.is_protected {
            self.waiting.insert((entry.phase, now), id);
            if let Some(address) = entry.address {
                self.waiting_by_address.insert((address, entry.phase, now), id);
            }
        }
    }

    fn remove(&mut self, id: u64) -> Option<Entry> {
        // A protected connection is not among those that wait.
        self.change(id, |entry| entry.is_protected = true);
        let entry = self.open.remove(&id)?;
        if let Some(address) = entry.address
            && let Some(count) = self.count_by_address.get_mut(&address)
        {
            *count -= 1;
            if *count == 0 {
                self.count_by_address.remove(&address);
            }
        }
        Some(entry)
    }

    fn cut_off(&mut self, id: u64) {
        if let Some(entry) = self.remove(id) {
            entry.cutoff.trigger();
        }
    }
}

/// The slot of a connection, which is free again when this is dropped.
#[derive(Debug)]
pub struct ConnectionSlot {
    slots: Arc<ConnectionSlots>,
    id: u64,
    cutoff: Arc<Cutoff>,
    _open: watch::Receiver<()>,
}

impl ConnectionSlot {
    pub fn cutoff(&self) -> &Arc<Cutoff> {
        &self.cutoff
    }

    pub fn begin_request(&self, has_body: bool) {
        let phase = if has_body { Phase::Receiving } else { Phase::Working };
        self.slots.table.lock().change(self.id, |entry| {
            entry.phase = phase;
            entry.is_protected = false;
        });
    }

    /// Enters `phase`. Ignores [`Phase::Working`] unless the phase is [`Phase::Receiving`], because the rest of a body
    /// may be dropped later than the response.
    pub fn enter_phase(&self, phase: Phase) {
        self.slots.table.lock().change(self.id, |entry| {
            if phase != Phase::Working || entry.phase == Phase::Receiving {
                entry.phase = phase;
            }
        });
    }
}

impl OpenConnection for ConnectionSlot {
    fn keep(&self) {
        self.slots
            .table
            .lock()
            .change(self.id, |entry| entry.is_protected = true);
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.slots.table.lock().remove(self.id);
    }
}

/// The signal that cuts a connection off. One task at a time waits for this: that of the connection or, after an
/// upgrade, that of the stream.
#[derive(Debug, Default)]
pub struct Cutoff {
    is_triggered: AtomicBool,
    waker: AtomicWaker,
}

impl Cutoff {
    fn trigger(&self) {
        self.is_triggered.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// Ready once the connection is cut off.
    pub fn poll(&self, context: &Context<'_>) -> Poll<()> {
        self.waker.register(context.waker());
        match self.is_triggered.load(Ordering::Acquire) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: &str = "127.0.0.1";

    struct World {
        slots: Arc<ConnectionSlots>,
        open: watch::Sender<()>,
    }

    impl World {
        fn new(max_connections: usize, max_per_address: usize) -> World {
            let config = ConnectionConfig {
                max_connections,
                max_per_address,
                ..ConnectionConfig::default()
            };
            World {
                slots: ConnectionSlots::new(config),
                open: watch::Sender::new(()),
            }
        }

        fn take(&self, address: &str) -> Result<Arc<ConnectionSlot>, ConnectionLimit> {
            self.slots.take(address.parse().unwrap(), self.open.subscribe())
        }

        fn is_empty(&self) -> bool {
            let table = self.slots.table.lock();
            table.open.is_empty()
                && table.count_by_address.is_empty()
                && table.waiting.is_empty()
                && table.waiting_by_address.is_empty()
        }
    }

    fn is_cut_off(slot: &ConnectionSlot) -> bool {
        slot.cutoff.is_triggered.load(Ordering::Relaxed)
    }

    #[test]
    fn the_connection_that_has_waited_longest_makes_room() {
        let world = World::new(3, 3);
        let [first, second, third] = [HOME; 3].map(|address| world.take(address).unwrap());
        // It was served since, so that the second one has waited longer.
        first.begin_request(false);
        first.enter_phase(Phase::Responding);
        first.enter_phase(Phase::Idle);
        let fourth = world.take(HOME).unwrap();
        assert_eq!(
            [&first, &second, &third, &fourth].map(|slot| is_cut_off(slot)),
            [false, true, false, false]
        );
        // That the second one ends later changes nothing.
        drop(second);
        assert_eq!(world.slots.table.lock().open.len(), 3);
        drop((first, third, fourth));
        assert!(world.is_empty() && world.open.is_closed());
    }

    #[test]
    fn idle_connections_make_room_before_bodies_and_these_before_responses() {
        let world = World::new(4, 4);
        let [responding, receiving, idle, working] = [HOME; 4].map(|address| world.take(address).unwrap());
        responding.begin_request(false);
        responding.enter_phase(Phase::Responding);
        receiving.begin_request(true);
        working.begin_request(true);
        working.enter_phase(Phase::Working);
        for (expected, phase) in [(&idle, "idle"), (&receiving, "receiving"), (&responding, "responding")] {
            world.take(HOME).unwrap().begin_request(false);
            let next = world.take(HOME).unwrap();
            next.begin_request(false);
            std::mem::forget(next);
            assert!(is_cut_off(expected), "{phase}");
        }
        assert!(!is_cut_off(&working));
        assert_eq!(world.take(HOME).unwrap_err(), ConnectionLimit::Process);
    }

    #[test]
    fn the_stream_of_a_verified_caller_makes_no_room_until_its_connection_is_used_again() {
        let world = World::new(1, 1);
        let stream = world.take(HOME).unwrap();
        stream.begin_request(false);
        stream.enter_phase(Phase::Responding);
        stream.keep();
        // As after an upgrade, where the response has no body.
        stream.enter_phase(Phase::Idle);
        assert_eq!(world.take(HOME).unwrap_err(), ConnectionLimit::Process);
        stream.begin_request(false);
        stream.enter_phase(Phase::Responding);
        assert!(world.take(HOME).is_ok() && is_cut_off(&stream));
    }

    #[test]
    fn one_address_has_its_share_and_makes_room_for_itself() {
        let world = World::new(100, 2);
        let bystander = world.take("192.0.2.9").unwrap();
        let held: Vec<_> = (0..10).map(|_| world.take("::ffff:192.0.2.1").unwrap()).collect();
        assert_eq!(held.iter().filter(|slot| is_cut_off(slot)).count(), 8);
        assert!(!is_cut_off(&bystander));
        held[8].begin_request(false);
        held[9].begin_request(false);
        assert_eq!(world.take("192.0.2.1").unwrap_err(), ConnectionLimit::Address);
        assert!(world.take("192.0.2.2").is_ok());
        // A subscriber of IPv6 has a whole network.
        let [first, ..] = ["2001:db8::1", "2001:db8::2", "2001:db8::3"].map(|address| world.take(address).unwrap());
        assert!(is_cut_off(&first));
        assert!(!is_cut_off(&world.take("2001:db8:0:1::1").unwrap()));
    }

    #[test]
    fn this_machine_and_proxies_are_not_counted_by_address() {
        let config = ConnectionConfig {
            max_connections: 100,
            max_per_address: 1,
            proxies: "10.0.0.0/24".parse().unwrap(),
            counts_loopback: false,
        };
        let world = World {
            slots: ConnectionSlots::new(config),
            open: watch::Sender::new(()),
        };
        let held: Vec<_> = ["127.0.0.1", "127.0.0.1", "::1", "::1", "10.0.0.7", "10.0.0.7"]
            .map(|address| world.take(address).unwrap())
            .into();
        assert!(!held.iter().any(|slot| is_cut_off(slot)));
        let [first, _] = ["10.0.1.7"; 2].map(|address| world.take(address).unwrap());
        assert!(is_cut_off(&first));
    }

    #[test]
    fn a_body_that_is_dropped_after_the_response_does_not_hold_the_connection() {
        let world = World::new(1, 1);
        let slot = world.take(HOME).unwrap();
        slot.begin_request(true);
        slot.enter_phase(Phase::Responding);
        slot.enter_phase(Phase::Idle);
        slot.enter_phase(Phase::Working);
        assert!(world.take(HOME).is_ok() && is_cut_off(&slot));
    }
}
