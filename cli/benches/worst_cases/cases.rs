//! The cases: held, queued and imported files, and the request.

/// When the locks end.
pub const EXPIRY: i64 = 4_000_000_000;

/// Most locks of a repository, and most tickets.
pub const MAX_LOCKS: usize = 10_000;
const MAX_TICKETS: usize = 64;

/// Files of each ticket: together as many as there may be.
const FILES: usize = 4_096 / MAX_TICKETS;

/// The locks, the queue and the graph.
#[derive(Default)]
pub struct State {
    /// Path, number of holders, and whether it is locked for writing.
    pub held: Vec<(String, usize, bool)>,
    /// Number of these files that the caller has locked for reading as well.
    pub own: usize,
    pub message: String,
    pub imports: Vec<(String, String)>,
    /// Whether those that write keep the interfaces.
    pub keeps: bool,
    /// The files of claims for writing that wait.
    pub queued: Vec<Vec<String>>,
    /// Whether the last of these is the caller's.
    pub is_queued: bool,
}

pub enum Act {
    Check(Vec<String>),
    Claim(Vec<String>),
    /// Releases everything that the caller holds.
    Everything,
    /// Announces that the interfaces of these files have changed.
    Tell(Vec<String>),
}

pub struct Case {
    pub name: &'static str,
    pub state: State,
    pub act: Act,
    pub answer: &'static str,
}

fn files(prefix: &str, count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("src/package/module/{prefix}/component{number}.ts"))
        .collect()
}

/// A name of three characters.
fn short(number: usize) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let digits = [number / 1296, number / 36 % 36, number % 36];
    digits.map(|digit| char::from(DIGITS[digit])).iter().collect()
}

fn held(paths: &[String], holders: usize, writes: bool) -> Vec<(String, usize, bool)> {
    paths.iter().map(|path| (path.clone(), holders, writes)).collect()
}

fn all_import(from: &[String], to: &[String]) -> Vec<(String, String)> {
    let pairs = from
        .iter()
        .flat_map(|from| to.iter().map(|to| (from.clone(), to.clone())));
    pairs.collect()
}

fn state(held: Vec<(String, usize, bool)>, imports: Vec<(String, String)>) -> State {
    State {
        held,
        message: "Rework the session handling so that it uses tokens".to_owned(),
        imports,
        ..State::default()
    }
}

/// Tickets in a chain, the last of them the caller's: each comes after the one before it, by the last of its files, and the first
/// waits for a file that the caller reads. So all wait for the caller, and none can be left out of the search for them. 60 files
/// of each are locked by others.
fn chain() -> State {
    const LOCKED: usize = 60;
    let link = |number: usize| short(36 * 1296 - 1 - number);
    let files_of = |ticket: usize| -> Vec<String> { (2..FILES).map(|place| short(ticket * FILES + place)).collect() };
    let mut locked = held(&[link(0)], 0, false);
    let mut queued = Vec::new();
    for number in 0..MAX_TICKETS {
        let own_files = files_of(number);
        locked.extend(held(&own_files[..LOCKED], 1, false));
        queued.push([&[link(number + 1)], &own_files[..], &[link(number)]].concat());
    }
    State {
        own: 1,
        queued,
        is_queued: true,
        // Each of those that could be free is locked, and in a ticket.
        imports: (16..32)
            .map(|place| (files_of(0)[0].clone(), files_of(place)[18].clone()))
            .collect(),
        ..state(locked, Vec::new())
    }
}

pub fn cases() -> Vec<Case> {
    let many = files("held", MAX_LOCKS);
    let hub = vec!["src/hub.ts".to_owned()];
    let near = &many[..190];
    // So that many have room in a notice.
    let broken: Vec<String> = (0..32).map(short).collect();
    let chain = chain();
    let waiting = chain.queued.last().cloned().unwrap_or_default();
    vec![
        Case {
            name: "check of a hub: all 10,000 locks are on its importers",
            state: state(held(&many[..MAX_LOCKS - 1], 1, false), all_import(&many, &hub)),
            act: Act::Check(hub.clone()),
            answer: "256 locks, 9743 more",
        },
        Case {
            name: "claim of a hub, all of whose 9,999 importers are written and keep theirs",
            state: State {
                keeps: true,
                // As many bytes as a lock may have that counts once.
                message: "\"".repeat(500),
                ..state(held(&many[..MAX_LOCKS - 1], 1, true), all_import(&many, &hub))
            },
            act: Act::Claim(hub),
            answer: "Claimed",
        },
        Case {
            name: "release of everything: 2,000 files of 190 importers each",
            state: State {
                own: 2000,
                ..state(
                    held(&many[..2000], 0, false),
                    all_import(&files("near", 190), &many[..2000]),
                )
            },
            act: Act::Everything,
            answer: "2000 released",
        },
        Case {
            name: "a waiting claim asks again, the last of a chain of 64 tickets",
            state: chain,
            act: Act::Claim(waiting),
            answer: "Conflict, 64 tickets",
        },
        Case {
            name: "3,990 notices: 32 files, as many as are told of at once, have broken their interface, which 190 held files with 21 readers each import",
            state: state(held(near, 21, false), all_import(near, &broken)),
            act: Act::Tell(broken),
            answer: "127680 told",
        },
    ]
}
