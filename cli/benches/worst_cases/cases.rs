//! The cases: the held locks, the graph, and the request.

use coord_domain::LockMode;

use crate::queue::Ticket;
use crate::{interfaces, queue};

const FAR: i64 = 4_000_000_000;

const LONG_AGO: i64 = 1_000_000_000;

/// Most locks of a repository.
pub const MOST: usize = 10_000;

/// The locks, and the graph.
#[derive(Default)]
pub struct State {
    /// Path, number of holders, and whether it is locked for writing.
    pub held: Vec<(String, usize, bool)>,
    /// Whether each has a second lock for writing, on another branch.
    pub is_mixed: bool,
    /// Number of these files that the caller has locked for reading as well.
    pub own: usize,
    pub expiry: i64,
    pub message: String,
    pub imports: Vec<(String, String)>,
    /// Whether those that write keep the interfaces.
    pub keeps: bool,
    pub queued: Vec<Ticket>,
}

/// The measured request.
pub enum Act {
    Check(LockMode, Vec<String>),
    Claim(LockMode, Vec<String>),
    /// Releases files that the caller has claimed before.
    Abandon(Vec<String>),
    /// Releases files whose work was pushed.
    Release(Vec<String>),
    /// Releases everything that the caller holds, which is nothing.
    Everything,
    /// Announces that the interfaces of these files have changed.
    Tell(Vec<String>),
    Sweep,
}

pub struct Case {
    pub name: &'static str,
    pub state: State,
    pub act: Act,
    /// The expected answer, unless bounds decide it.
    pub answer: Option<&'static str>,
}

pub fn files(prefix: &str, count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("src/package/module/{prefix}/component{number}.ts"))
        .collect()
}

/// A name of three characters.
pub fn short(number: usize) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let digits = [number / 1296, number / 36 % 36, number % 36];
    digits.map(|digit| char::from(DIGITS[digit])).iter().collect()
}

pub fn held(paths: &[String], readers: usize) -> Vec<(String, usize, bool)> {
    paths.iter().map(|path| (path.clone(), readers, false)).collect()
}

pub fn all_import(from: &[String], to: &[String]) -> Vec<(String, String)> {
    let pairs = from
        .iter()
        .flat_map(|from| to.iter().map(|to| (from.clone(), to.clone())));
    pairs.collect()
}

pub fn state(held: Vec<(String, usize, bool)>, imports: Vec<(String, String)>) -> State {
    State {
        held,
        expiry: FAR,
        message: "Rework the session handling so that it uses tokens".to_owned(),
        imports,
        ..State::default()
    }
}

pub fn cases() -> Vec<Case> {
    use LockMode::{Reading, Writing};
    let case = |name, state, act| Case {
        name,
        state,
        act,
        answer: None,
    };
    let many = files("held", MOST);
    let hub = vec!["src/hub.ts".to_owned()];
    let hubs = files("hubs", 256);
    let requested = files("requested", 512);
    let long: Vec<String> = (0..512).map(|number| format!("{number:0>128}")).collect();
    let wordy = |held| State {
        message: "\u{1f600}".repeat(500),
        ..state(held, Vec::new())
    };
    let neighbors = files("neighbors", 150_000);
    let of_locks = vec![
        case(
            "check of a hub: all 10,000 locks are on its importers",
            state(held(&many[..MOST - 1], 1), all_import(&many, &hub)),
            Act::Check(Writing, hub.clone()),
        ),
        case(
            "the same, and each importer has two locks, on two branches",
            State {
                is_mixed: true,
                ..state(held(&many[..MOST / 2], 1), all_import(&many, &hub))
            },
            Act::Check(Writing, hub.clone()),
        ),
        case(
            "check of a hub of 150,000 importers, 10,000 other files held",
            state(held(&many, 1), all_import(&neighbors, &hub)),
            Act::Check(Writing, hub.clone()),
        ),
        case(
            "check of 256 hubs, 3,600 files held that import each",
            state(held(&many[..3600], 1), all_import(&many[..3600], &hubs)),
            Act::Check(Writing, hubs.clone()),
        ),
        case(
            "check of 12 hubs, 3,600 files held that import each of 256",
            state(held(&many[..3600], 1), all_import(&many[..3600], &hubs)),
            Act::Check(Writing, hubs[..12].to_vec()),
        ),
        case(
            "check of 512 files of 190 neighbors each, 10,000 other files held",
            state(held(&many, 1), all_import(&requested, &neighbors[..190])),
            Act::Check(Writing, requested.clone()),
        ),
        case(
            "check of 512 files of 190 neighbors each, all of them held",
            state(held(&many[..190], 50), all_import(&requested, &many[..190])),
            Act::Check(Writing, requested.clone()),
        ),
        case(
            "check of 512 files with 8 readers each",
            state(held(&requested, 8), Vec::new()),
            Act::Check(Reading, requested.clone()),
        ),
        case(
            "claim for reading of 500 files with 7 readers each",
            state(held(&requested, 7), Vec::new()),
            Act::Claim(Reading, requested[..500].to_vec()),
        ),
        case(
            "claim for reading of 120 files with 34 readers each",
            state(held(&requested[..120], 34), Vec::new()),
            Act::Claim(Reading, requested[..120].to_vec()),
        ),
        case(
            "check of 512 files with 6 locks of 2.5 KiB each",
            wordy(held(&long, 6)),
            Act::Check(Reading, long.clone()),
        ),
        case(
            "claim for writing of 512 files that others write, with long messages",
            wordy(long.iter().map(|path| (path.clone(), 1, true)).collect()),
            Act::Claim(Writing, long.clone()),
        ),
        case(
            "claim for writing of 512 free files, 9,000 others held",
            state(held(&many[..9000], 1), Vec::new()),
            Act::Claim(Writing, requested.clone()),
        ),
        case(
            "claim of 512 files with 8 expired locks each",
            State {
                expiry: LONG_AGO,
                ..state(held(&requested, 8), Vec::new())
            },
            Act::Claim(Writing, requested.clone()),
        ),
        case(
            "release of 500 files of 190 importers each",
            state(Vec::new(), all_import(&neighbors[..190], &requested[..500])),
            Act::Abandon(requested[..500].to_vec()),
        ),
        case(
            "release of everything: 2,000 files, 4 others read each",
            State {
                own: 2000,
                ..state(held(&many[..2000], 4), Vec::new())
            },
            Act::Everything,
        ),
        case(
            "release of everything: 2,000 files of 190 importers each",
            State {
                own: 2000,
                ..state(held(&many[..2000], 0), all_import(&neighbors[..190], &many[..2000]))
            },
            Act::Everything,
        ),
        case(
            "release of everything: 1 file, 9,999 locks of others",
            State {
                own: 1,
                ..state([held(&many[..1], 0), held(&many[1..], 1)].concat(), Vec::new())
            },
            Act::Everything,
        ),
        case(
            "sweep of 500 files with 8 expired locks each",
            State {
                expiry: LONG_AGO,
                ..state(held(&requested, 8), Vec::new())
            },
            Act::Sweep,
        ),
    ];
    of_locks
        .into_iter()
        .chain(queue::cases())
        .chain(interfaces::cases())
        .collect()
}
