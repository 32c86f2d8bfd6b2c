//! The acts of a random program.

use coord_intents::intent::Status;
use coord_intents_state::intents::Criteria;
use proptest::prelude::*;
use proptest::sample::select;

use crate::stores::ledger::{EMPTY, HASH};

const IDS: [&str; 7] = ["a", "a", "b", "b", "c", "c", "none"];
/// The last one may be written by several at once, as long as no policy says otherwise.
const FILES: [&str; 5] = ["src/a.ts", "src/b.ts", "lib/größe.ts", "README.md", "src/go.sum"];
const POLICIES: [&str; 4] = [
    "",
    "shared = []",
    "ignore = [\"src/b.ts\"]\nttl_seconds = 90",
    "neighbors = \"off\"\nshared = [\"*.md\", \"src/a.ts\"]",
];
const SCOPES: [&str; 3] = ["src/**", "src/a.ts", "lib/**"];
/// The login that does acts that only a person may.
pub const PERSON: &str = "bob";
const WHO: [&str; 4] = ["ann/one", "ann/two", PERSON, "eve/one"];

/// The agent, its branch, and its act.
pub type Step = (&'static str, &'static str, Act);

#[derive(Clone, Debug)]
pub enum Act {
    Write {
        id: &'static str,
        scope: &'static str,
        branch: Option<&'static str>,
        turns: Option<u64>,
        is_new: bool,
    },
    Select {
        id: &'static str,
        is_stale: bool,
    },
    Move {
        id: &'static str,
        status: Status,
        is_person: bool,
        criteria: Criteria,
    },
    Allow {
        id: &'static str,
        other: &'static str,
    },
    Take {
        id: &'static str,
        file: &'static str,
    },
    Use {
        id: &'static str,
        call: Option<&'static str>,
        tokens: Option<u64>,
    },
    Claim {
        files: Vec<&'static str>,
        cited: Option<&'static str>,
        call: &'static str,
        is_writing: bool,
        is_required: bool,
        is_check: bool,
    },
    Release {
        files: Vec<&'static str>,
        is_push: bool,
    },
    Record {
        cited: Option<&'static str>,
        trace: &'static str,
        recorded: Recorded,
        is_reset: bool,
    },
    Seal {
        most_lines: usize,
    },
    Policy(&'static str),
}

impl Act {
    pub fn is_a_persons(&self) -> bool {
        matches!(
            self,
            Act::Allow { .. } | Act::Take { .. } | Act::Move { is_person: true, .. }
        )
    }
}

#[derive(Clone, Debug)]
pub enum Recorded {
    Change(&'static str, &'static str),
    Prompt,
    End,
    Other,
}

fn files() -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::subsequence(FILES.to_vec(), 1..=3)
}

fn act() -> impl Strategy<Value = Act> {
    let id = || select(&IDS[..]);
    let budget = || prop::option::of(1_u64..6);
    let branch = || select(&[None, None, Some("main"), Some("dev")][..]);
    let written = (id(), select(&SCOPES[..]), branch(), budget(), prop::bool::weighted(0.7));
    let status = select(
        &[
            Status::Completed,
            Status::Abandoned,
            Status::Blocked,
            Status::InProgress,
            Status::Pending,
        ][..],
    );
    let criteria = select(&[Criteria::Met, Criteria::Unmet, Criteria::Forced][..]);
    let call = || select(&["", "x", "x", "y"][..]);
    let cited = || prop::option::weighted(0.6, id());
    let recorded = prop_oneof![
        4 => (select(&FILES[..]), select(&[HASH, EMPTY, "DELETED"][..])).prop_map(|(file, hash)| Recorded::Change(file, hash)),
        1 => Just(Recorded::Prompt),
        1 => Just(Recorded::End),
        1 => Just(Recorded::Other),
    ];
    prop_oneof![
        4 => written.prop_map(|(id, scope, branch, turns, is_new)| Act::Write { id, scope, branch, turns, is_new }),
        5 => (id(), prop::bool::weighted(0.1)).prop_map(|(id, is_stale)| Act::Select { id, is_stale }),
        3 => (id(), status, any::<bool>(), criteria)
            .prop_map(|(id, status, is_person, criteria)| Act::Move { id, status, is_person, criteria }),
        1 => (id(), id()).prop_map(|(id, other)| Act::Allow { id, other }),
        2 => (id(), select(&FILES[..])).prop_map(|(id, file)| Act::Take { id, file }),
        3 => (id(), select(&[None, Some("x"), Some("y")][..]), prop::option::of(0_u64..2_000))
            .prop_map(|(id, call, tokens)| Act::Use { id, call, tokens }),
        9 => (files(), cited(), call(), prop::bool::weighted(0.8), prop::bool::weighted(0.2), prop::bool::weighted(0.2)).prop_map(
            |(files, cited, call, is_writing, is_required, is_check)| Act::Claim {
                files, cited, call, is_writing, is_required, is_check,
            }
        ),
        4 => (files(), prop::bool::weighted(0.1)).prop_map(|(files, is_push)| Act::Release { files, is_push }),
        4 => (cited(), select(&["t1", "t2", "t3", "t4", "t5"][..]), recorded, any::<bool>())
            .prop_map(|(cited, trace, recorded, is_reset)| Act::Record { cited, trace, recorded, is_reset }),
        1 => (2_000_usize..4_000).prop_map(|most_lines| Act::Seal { most_lines }),
        1 => select(&POLICIES[..]).prop_map(Act::Policy),
    ]
}

/// Two intents that have begun, with which a program begins.
pub fn beginning() -> Vec<Step> {
    let written = |id, scope, turns| Act::Write {
        id,
        scope,
        branch: None,
        turns,
        is_new: true,
    };
    let selected = |id| Act::Select { id, is_stale: false };
    vec![
        ("ann/one", "main", written("a", "src/**", Some(5))),
        ("ann/one", "main", selected("a")),
        ("eve/one", "main", written("b", "lib/**", None)),
        ("eve/one", "main", selected("b")),
    ]
}

pub fn step() -> impl Strategy<Value = Step> {
    let branch = select(&["main", "main", "main", "dev"][..]);
    (select(&WHO[..]), branch, act())
}
