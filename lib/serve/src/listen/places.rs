//! The open connections of a process: how many there may be, also from one address, and which of them makes room for a new one.
//!
//! No client can keep others out by holding connections. A connection that waits for its client (for a request, for a body, or
//! for a response to be read) makes room, the oldest first. Others end by themselves: a request that is worked on, within
//! the time limit of the edge, and the stream of a verified caller, of which each has a bounded number.

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

/// Activity of a connection. Those before [`Phase::Working`] make room, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It waits for a request, or for the rest of its head.
    Idle,
    /// It waits for the body of a request.
    Receiving,
    /// It waits for the client to read the response.
    Responding,
    /// The request is worked on.
    Working,
}

/// Why a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The address has its share, and none of its connections waits.
    OfAddress,
    /// The process has as many as it may, and none of them waits.
    OfAll,
}

impl Full {
    /// The setting that says how many there may be.
    pub fn variable(self) -> &'static str {
        match self {
            Full::OfAddress => env_vars::COORD_MAX_CONNECTIONS_PER_ADDRESS,
            Full::OfAll => env_vars::COORD_MAX_CONNECTIONS,
        }
    }
}

/// The connections of a process.
#[derive(Debug)]
pub struct Places {
    config: ConnectionConfig,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    open: HashMap<u64, Entry>,
    /// Connections by address, where they are counted by it.
    of_address: HashMap<IpAddr, usize>,
    /// Those that wait, in the order in which they make room: of all, and of one address.
    waiting: BTreeMap<(Phase, u64), u64>,
    waiting_of_address: BTreeMap<(IpAddr, Phase, u64), u64>,
    /// The next number: of a connection, or of a change of its phase.
    next: u64,
}

#[derive(Debug)]
struct Entry {
    /// The address that it counts for.
    address: Option<IpAddr>,
    phase: Phase,
    /// When the phase began.
    since: u64,
    /// It is a verified caller's stream, until its next request.
    is_kept: bool,
    cut: Arc<Cut>,
}

impl Places {
    /// Places for as many connections as `config` says.
    pub fn new(config: ConnectionConfig) -> Arc<Places> {
        Arc::new(Places {
            config,
            table: Mutex::default(),
        })
    }

    /// A place for a connection from `peer`. Where there is none, the connection that has waited longest is cut off. `counted` is
    /// dropped when the connection ends.
    ///
    /// # Errors
    /// When no connection waits.
    pub fn take(self: &Arc<Self>, peer: IpAddr, counted: watch::Receiver<()>) -> Result<Arc<ConnectionPlace>, Full> {
        let mut table = self.table.lock();
        let address = self.config.is_counted(peer).then(|| network(peer));
        if let Some(address) = address
            && table.of_address.get(&address).copied().unwrap_or_default() >= self.config.most_of_address
        {
            let mut own = table.waiting_of_address.range((address, Phase::Idle, 0)..);
            let oldest = own.next().filter(|((of, ..), _)| *of == address).map(|(_, id)| *id);
            table.cut_off(oldest.ok_or(Full::OfAddress)?);
        }
        if table.open.len() >= self.config.most {
            let oldest = table.waiting.first_key_value().map(|(_, id)| *id);
            table.cut_off(oldest.ok_or(Full::OfAll)?);
        }
        let cut = Arc::new(Cut::default());
        let id = table.number();
        if let Some(address) = address {
            *table.of_address.entry(address).or_default() += 1;
        }
        let entry = Entry {
            address,
            phase: Phase::Working,
            since: id,
            is_kept: false,
            cut: Arc::clone(&cut),
        };
        table.open.insert(id, entry);
        table.change(id, |entry| entry.phase = Phase::Idle);
        Ok(Arc::new(ConnectionPlace {
            places: Arc::clone(self),
            id,
            cut,
            _counted: counted,
        }))
    }
}

impl Table {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Changes the connection `id`, and its turn to make room.
    fn change(&mut self, id: u64, change: impl FnOnce(&mut Entry)) {
        let now = self.number();
        let Some(entry) = self.open.get_mut(&id) else {
            // It was cut off.
            return;
        };
        self.waiting.remove(&(entry.phase, entry.since));
        if let Some(address) = entry.address {
            self.waiting_of_address.remove(&(address, entry.phase, entry.since));
        }
        change(entry);
        entry.since = now;
        if entry.phase < Phase::Working && !entry.is_kept {
            self.waiting.insert((entry.phase, now), id);
            if let Some(address) = entry.address {
                self.waiting_of_address.insert((address, entry.phase, now), id);
            }
        }
    }

    /// Takes the connection `id` out.
    fn remove(&mut self, id: u64) -> Option<Entry> {
        self.change(id, |entry| entry.is_kept = true);
        let entry = self.open.remove(&id)?;
        if let Some(address) = entry.address
            && let Some(count) = self.of_address.get_mut(&address)
        {
            *count -= 1;
            if *count == 0 {
                self.of_address.remove(&address);
            }
        }
        Some(entry)
    }

    fn cut_off(&mut self, id: u64) {
        if let Some(entry) = self.remove(id) {
            entry.cut.cut_off();
        }
    }
}

/// The place of a connection, until it is dropped.
#[derive(Debug)]
pub struct ConnectionPlace {
    places: Arc<Places>,
    id: u64,
    cut: Arc<Cut>,
    _counted: watch::Receiver<()>,
}

impl ConnectionPlace {
    /// Whether and when the connection is cut off.
    pub fn cut(&self) -> &Arc<Cut> {
        &self.cut
    }

    pub fn begin(&self, has_body: bool) {
        let phase = if has_body { Phase::Receiving } else { Phase::Working };
        self.places.table.lock().change(self.id, |entry| {
            entry.phase = phase;
            entry.is_kept = false;
        });
    }

    /// The connection goes on to `phase`; to [`Phase::Working`] only from [`Phase::Receiving`], because what is left of a body may
    /// be dropped later than the response.
    pub fn go_on(&self, phase: Phase) {
        self.places.table.lock().change(self.id, |entry| {
            if phase != Phase::Working || entry.phase == Phase::Receiving {
                entry.phase = phase;
            }
        });
    }
}

impl OpenConnection for ConnectionPlace {
    fn keep(&self) {
        self.places.table.lock().change(self.id, |entry| entry.is_kept = true);
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.places.table.lock().remove(self.id);
    }
}

/// Tells a connection that it is cut off. One task at a time waits for it: the connection's, or after an upgrade the stream's.
#[derive(Debug, Default)]
pub struct Cut {
    is_cut: AtomicBool,
    waker: AtomicWaker,
}

impl Cut {
    fn cut_off(&self) {
        self.is_cut.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// Ready once the connection is cut off.
    pub fn poll(&self, context: &Context<'_>) -> Poll<()> {
        self.waker.register(context.waker());
        match self.is_cut.load(Ordering::Acquire) {
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
        places: Arc<Places>,
        open: watch::Sender<()>,
    }

    impl World {
        fn new(most: usize, most_of_address: usize) -> World {
            let config = ConnectionConfig {
                most,
                most_of_address,
                ..ConnectionConfig::default()
            };
            World {
                places: Places::new(config),
                open: watch::Sender::new(()),
            }
        }

        fn take(&self, address: &str) -> Result<Arc<ConnectionPlace>, Full> {
            self.places.take(address.parse().unwrap(), self.open.subscribe())
        }

        fn is_empty(&self) -> bool {
            let table = self.places.table.lock();
            table.open.is_empty()
                && table.of_address.is_empty()
                && table.waiting.is_empty()
                && table.waiting_of_address.is_empty()
        }
    }

    fn is_cut(place: &ConnectionPlace) -> bool {
        place.cut.is_cut.load(Ordering::Relaxed)
    }

    #[test]
    fn the_connection_that_has_waited_longest_makes_room() {
        let world = World::new(3, 3);
        let [first, second, third] = [HOME; 3].map(|address| world.take(address).unwrap());
        // It was served since, so that the second one has waited longer.
        first.begin(false);
        first.go_on(Phase::Responding);
        first.go_on(Phase::Idle);
        let fourth = world.take(HOME).unwrap();
        assert_eq!(
            [&first, &second, &third, &fourth].map(|place| is_cut(place)),
            [false, true, false, false]
        );
        // That the second one ends later changes nothing.
        drop(second);
        assert_eq!(world.places.table.lock().open.len(), 3);
        drop((first, third, fourth));
        assert!(world.is_empty() && world.open.is_closed());
    }

    #[test]
    fn idle_connections_make_room_before_bodies_and_these_before_responses() {
        let world = World::new(4, 4);
        let [responding, receiving, idle, working] = [HOME; 4].map(|address| world.take(address).unwrap());
        responding.begin(false);
        responding.go_on(Phase::Responding);
        receiving.begin(true);
        working.begin(true);
        working.go_on(Phase::Working);
        for (expected, place) in [(&idle, "idle"), (&receiving, "receiving"), (&responding, "responding")] {
            world.take(HOME).unwrap().begin(false);
            let next = world.take(HOME).unwrap();
            next.begin(false);
            std::mem::forget(next);
            assert!(is_cut(expected), "{place}");
        }
        assert!(!is_cut(&working));
        assert_eq!(world.take(HOME).unwrap_err(), Full::OfAll);
    }

    #[test]
    fn the_stream_of_a_verified_caller_makes_no_room_until_its_connection_is_used_again() {
        let world = World::new(1, 1);
        let stream = world.take(HOME).unwrap();
        stream.begin(false);
        stream.go_on(Phase::Responding);
        stream.keep();
        // As after an upgrade, where the response has no body.
        stream.go_on(Phase::Idle);
        assert_eq!(world.take(HOME).unwrap_err(), Full::OfAll);
        stream.begin(false);
        stream.go_on(Phase::Responding);
        assert!(world.take(HOME).is_ok() && is_cut(&stream));
    }

    #[test]
    fn one_address_has_its_share_and_makes_room_for_itself() {
        let world = World::new(100, 2);
        let bystander = world.take("192.0.2.9").unwrap();
        let held: Vec<_> = (0..10).map(|_| world.take("::ffff:192.0.2.1").unwrap()).collect();
        assert_eq!(held.iter().filter(|place| is_cut(place)).count(), 8);
        assert!(!is_cut(&bystander));
        held[8].begin(false);
        held[9].begin(false);
        assert_eq!(world.take("192.0.2.1").unwrap_err(), Full::OfAddress);
        assert!(world.take("192.0.2.2").is_ok());
        // A subscriber of IPv6 has a whole network.
        let [first, ..] = ["2001:db8::1", "2001:db8::2", "2001:db8::3"].map(|address| world.take(address).unwrap());
        assert!(is_cut(&first));
        assert!(!is_cut(&world.take("2001:db8:0:1::1").unwrap()));
    }

    #[test]
    fn this_machine_and_proxies_are_not_counted_by_address() {
        let config = ConnectionConfig {
            most: 100,
            most_of_address: 1,
            proxies: "10.0.0.0/24".parse().unwrap(),
            counts_loopback: false,
        };
        let world = World {
            places: Places::new(config),
            open: watch::Sender::new(()),
        };
        let held: Vec<_> = ["127.0.0.1", "127.0.0.1", "::1", "::1", "10.0.0.7", "10.0.0.7"]
            .map(|address| world.take(address).unwrap())
            .into();
        assert!(!held.iter().any(|place| is_cut(place)));
        let [first, _] = ["10.0.1.7"; 2].map(|address| world.take(address).unwrap());
        assert!(is_cut(&first));
    }

    #[test]
    fn a_body_that_is_dropped_after_the_response_does_not_hold_the_connection() {
        let world = World::new(1, 1);
        let place = world.take(HOME).unwrap();
        place.begin(true);
        place.go_on(Phase::Responding);
        place.go_on(Phase::Idle);
        place.go_on(Phase::Working);
        assert!(world.take(HOME).is_ok() && is_cut(&place));
    }
}
