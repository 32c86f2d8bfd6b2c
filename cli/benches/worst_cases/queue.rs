//! The queue: tickets as they may lie in a repository, 64 of them with 4,096 files in 128 KiB.

use coord_domain::LockMode::{self, Reading, Writing};
use coord_state as state;
use coord_store::{Request, Store, Value};

use crate::cases::{Act, Case, State, files, held, short, state};

/// Most tickets of a repository, and most bytes of them.
const MOST: usize = 64;
const MOST_BYTES: usize = 131_072;

/// Files of each ticket: together as many as there may be.
const FILES: usize = 4_096 / MOST;

/// A claim that waits.
#[derive(Clone)]
pub struct Ticket {
    pub mode: LockMode,
    pub files: Vec<String>,
    /// Whether it is the caller's.
    pub is_callers: bool,
    /// Whether its files are reserved for it.
    pub is_reserved: bool,
}

impl Ticket {
    /// The most tickets for the same files.
    pub fn all_for(mode: LockMode, files: &[String]) -> Vec<Ticket> {
        let ticket = Ticket {
            mode,
            files: files.to_vec(),
            is_callers: false,
            is_reserved: false,
        };
        vec![ticket; MOST]
    }

    /// The digest by which the same claim finds it.
    fn id_of(&self, user: &str) -> String {
        let mut files = self.files.clone();
        files.sort();
        let told = [user, "", "main", self.mode.as_str(), &files.join("\n")].join("\n");
        let digest = sha1_smol::Sha1::from(told).hexdigest();
        digest[..12].to_owned()
    }

    /// In the form of `queue.lua`.
    fn stored(&self, number: usize, now_ms: u64) -> serde_json::Value {
        let (user, agent) = if self.is_callers {
            ("ann".to_owned(), None)
        } else {
            (format!("person{}", number % 10), Some(format!("waiting-{number}")))
        };
        let mut stored = serde_json::json!({
            "id": format!("{number:012x}"), "user_id": user, "user_name": "Mona Lisa", "branch": "main",
            "status": self.mode.as_str(), "message": "Work".repeat(125), "files": self.files, "since": now_ms, "asked": now_ms,
        });
        if let Some(agent) = agent {
            stored["agent_id"] = agent.into();
        }
        if self.is_callers {
            stored["id"] = self.id_of("ann").into();
        }
        if self.is_reserved {
            stored["reserved"] = (now_ms + 20_000).into();
        }
        stored
    }
}

/// Stores the tickets, each of which has been asked for just now.
pub async fn store_tickets(store: &dyn Store, key: &str, tickets: &[Ticket]) {
    let now_ms = state::store_time().run(store).await.expect("an answer");
    let stored = tickets.iter().enumerate();
    let stored = serde_json::Value::from_iter(stored.map(|(number, ticket)| ticket.stored(number, now_ms))).to_string();
    assert!(
        (60_000..MOST_BYTES).contains(&stored.len()),
        "{} bytes of tickets",
        stored.len()
    );
    let set = Request::command(["SET", key, &stored]);
    store.run(vec![set]).await.expect("an answer");
}

/// Number of tickets, and of those with a reservation.
pub async fn count(store: &dyn Store, key: &str) -> (usize, usize) {
    let replies = store
        .run(vec![Request::command(["GET", key])])
        .await
        .expect("an answer");
    let tickets: Vec<serde_json::Value> = match &replies[0] {
        Value::Bulk(json) => serde_json::from_slice(json).expect("tickets"),
        _ => Vec::new(),
    };
    let reserved = tickets.iter().filter(|ticket| ticket["reserved"].is_i64()).count();
    (tickets.len(), reserved)
}

/// Files of one ticket alone.
fn files_of(ticket: usize) -> Vec<String> {
    (0..FILES).map(|place| short(ticket * FILES + place)).collect()
}

fn to_write(files: Vec<String>) -> Ticket {
    Ticket {
        mode: Writing,
        files,
        is_callers: false,
        is_reserved: false,
    }
}

/// Tickets in a chain: each comes after the one before it, by the last of its files, and the first waits for a file that the caller
/// reads. So all wait for the caller, and none can be left out of the search for them. 60 files of each are locked by others.
fn chain(tickets: usize) -> State {
    const LOCKED: usize = 60;
    let link = |number: usize| short(36 * 1296 - 1 - number);
    let mut locked = held(&[link(0)], 0);
    let mut queued = Vec::new();
    for number in 0..tickets {
        let own_files = &files_of(number)[2..];
        locked.extend(held(&own_files[..LOCKED], 1));
        queued.push(to_write([&[link(number + 1)], own_files, &[link(number)]].concat()));
    }
    State {
        own: 1,
        queued,
        // Each of those that could be free is locked, and in a ticket.
        imports: (16..32)
            .map(|place| (requested(tickets)[0].clone(), files_of(place)[20].clone()))
            .collect(),
        ..state(locked, Vec::new())
    }
}

/// Eight locked files of each ticket of [`chain`].
fn requested(tickets: usize) -> Vec<String> {
    (0..tickets)
        .flat_map(|ticket| files_of(ticket)[2..10].to_vec())
        .collect()
}

/// Tickets of which none has a file of another; the caller reads the last one of each, or nothing.
fn apart(is_reading: bool) -> State {
    let last = last_files();
    State {
        own: if is_reading { MOST } else { 0 },
        queued: (0..MOST).map(|number| to_write(files_of(number))).collect(),
        imports: (0..16)
            .map(|place| (last[0].clone(), files_of(MOST - 1 - place)[0].clone()))
            .collect(),
        ..state(if is_reading { held(&last, 0) } else { Vec::new() }, Vec::new())
    }
}

fn last_files() -> Vec<String> {
    (0..MOST).map(|ticket| files_of(ticket)[FILES - 1].clone()).collect()
}

/// The caller reads with `readers` others, and 64 more wait to write.
fn wanted(paths: &[String], readers: usize) -> State {
    State {
        own: paths.len(),
        queued: Ticket::all_for(Writing, paths),
        ..state(held(paths, readers), Vec::new())
    }
}

pub fn cases() -> Vec<Case> {
    let case = |name, state, act, answer| Case {
        name,
        state,
        act,
        answer: Some(answer),
    };
    let named = files("requested", 26);
    let same = files_of(0);
    let written_by_another: Vec<_> = same.iter().map(|path| (path.clone(), 1, true)).collect();
    let written: Vec<_> = same.iter().map(|path| (path.clone(), 0, true)).collect();
    let mut first = Ticket::all_for(Writing, &same);
    (first[0].is_callers, first[0].is_reserved) = (true, true);
    let mut last = Ticket::all_for(Writing, &same);
    last[MOST - 1].is_callers = true;
    let mut waiting = chain(MOST);
    waiting.queued[MOST - 1].is_callers = true;
    let waiting_files = waiting.queued[MOST - 1].files.clone();
    vec![
        case(
            "queue: claim for writing of 26 files that 64 tickets want, with 60 readers each, all of which the caller reads",
            wanted(&named, 60),
            Act::Claim(Writing, named.clone()),
            "Conflict, 64 tickets, 0 reserved",
        ),
        case(
            "queue: release of everything, 26 files that 64 tickets want",
            wanted(&named, 0),
            Act::Everything,
            "26 released, 64 tickets, 1 reserved",
        ),
        case(
            "queue: a refused claim of 504 files has no room beside 63 tickets; all wait for the caller, one through the other",
            chain(MOST - 1),
            Act::Claim(Writing, requested(MOST - 1)),
            "Conflict, 63 tickets, 0 reserved",
        ),
        case(
            "queue: a refused claim of 512 files beside 64 such tickets",
            chain(MOST),
            Act::Claim(Writing, requested(MOST)),
            "Conflict, 64 tickets, 0 reserved",
        ),
        case(
            "queue: check of 512 files of 64 such tickets",
            chain(MOST),
            Act::Check(Writing, requested(MOST)),
            "512 locks, 16 more, 64 tickets, 0 reserved",
        ),
        case(
            "queue: check of 64 files, each of another ticket, all of which are reserved now",
            apart(false),
            Act::Check(Writing, last_files()),
            "64 locks, 0 more, 64 tickets, 0 reserved",
        ),
        case(
            "queue: release of 64 files, each of another ticket",
            apart(true),
            Act::Release(last_files()),
            "64 released, 64 tickets, 64 reserved",
        ),
        case(
            "queue: release of 64 written files that 64 tickets want to read",
            State {
                own: FILES,
                queued: Ticket::all_for(Reading, &same),
                ..state(written, Vec::new())
            },
            Act::Release(same.clone()),
            "64 released, 64 tickets, 64 reserved",
        ),
        case(
            "queue: a waiting claim of 64 files asks again, the last of 64 tickets for them, which another writes",
            State {
                queued: last,
                ..state(written_by_another, Vec::new())
            },
            Act::Claim(Writing, same.clone()),
            "Conflict, 64 tickets, 0 reserved",
        ),
        case(
            "queue: a waiting claim asks again, the last of a chain of 64 tickets",
            waiting,
            Act::Claim(Writing, waiting_files),
            "Conflict, 64 tickets, 0 reserved",
        ),
        case(
            "queue: claim of 64 files by the first of 64 tickets, which are reserved for it",
            State {
                queued: first,
                ..state(Vec::new(), Vec::new())
            },
            Act::Claim(Writing, same),
            "Claimed, 63 tickets, 0 reserved",
        ),
    ]
}
