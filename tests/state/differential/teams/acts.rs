//! The acts of a random program in a team.

use coord_protocol::team_event::MessageType;
use coord_teams_state::tasks::{Priority, TaskStatus};
use proptest::prelude::*;
use proptest::sample::select;

/// `ann/two` is another agent of Ann's, who takes her handle over; nobody knows `eve`.
const WHO: [&str; 8] = ["ann/one", "ann/one", "ann/one", "ann/two", "bob", "bob", "carl", "eve"];
const HANDLES: [&str; 5] = ["ann", "BOB", "carl", "eve", "nobody"];
const KEYS: [&str; 4] = ["", "", "k1", "k2"];

/// The member and its act.
pub type Step = (&'static str, Act);

/// Tasks are named by their numbers, `t1` and so on.
#[derive(Clone, Debug)]
pub enum Act {
    Create(&'static str),
    Join {
        handle: &'static str,
    },
    Leave,
    HandOver(&'static str),
    Add {
        key: &'static str,
        tasks: Vec<(Priority, Vec<u32>, Vec<u32>)>,
        /// Whether each depends on the one before it.
        is_chain: bool,
    },
    Update {
        task: u32,
        dependencies: Option<Vec<u32>>,
        blocks: Option<Vec<u32>>,
        status: Option<TaskStatus>,
        note: &'static str,
        clear_lapses: bool,
    },
    Claim(u32),
    Next(&'static str),
    Complete {
        task: u32,
        token: Option<i64>,
    },
    Release {
        task: u32,
        note: &'static str,
    },
    Assign {
        task: u32,
        to: Option<&'static str>,
    },
    Delete {
        task: u32,
        is_unlinked: bool,
    },
    /// The claim of a task is over, if there is one.
    Lapse(u32),
    Send {
        key: &'static str,
        kind: MessageType,
        to: Vec<&'static str>,
    },
    Read {
        cursor: Option<u64>,
        most: usize,
    },
    RequestShutdown {
        target: Option<&'static str>,
        seconds: u32,
    },
    AnswerShutdown {
        number: u32,
        reason: Option<&'static str>,
    },
    ForceShutdown(u32),
    /// The team, its tasks and its messages.
    Look,
}

fn task() -> impl Strategy<Value = u32> {
    1_u32..9
}

fn some_tasks() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(task(), 0..3)
}

fn handle() -> impl Strategy<Value = &'static str> {
    select(&HANDLES[..])
}

fn act() -> impl Strategy<Value = Act> {
    let key = || select(&KEYS[..]);
    let priority = select(&[Priority::High, Priority::Normal, Priority::Low][..]);
    let new = (priority, some_tasks(), some_tasks());
    let status = select(&[None, None, None, Some(TaskStatus::Pending), Some(TaskStatus::Completed)][..]);
    let update = (
        task(),
        prop::option::of(some_tasks()),
        prop::option::weighted(0.3, some_tasks()),
        status,
        select(&["", "Größe: \"it\" / half\ndone"][..]),
        prop::bool::weighted(0.2),
    );
    let added = (key(), prop::collection::vec(new, 1..4), any::<bool>());
    let kind = select(
        &[
            MessageType::Plain,
            MessageType::Plain,
            MessageType::Plain,
            MessageType::Idle,
        ][..],
    );
    prop_oneof![
        3 => handle().prop_map(|handle| Act::Join { handle }),
        1 => Just(Act::Leave),
        1 => handle().prop_map(Act::HandOver),
        6 => added.prop_map(|(key, tasks, is_chain)| Act::Add { key, tasks, is_chain }),
        4 => update.prop_map(|(task, dependencies, blocks, status, note, clear_lapses)| Act::Update {
            task, dependencies, blocks, status, note, clear_lapses,
        }),
        6 => task().prop_map(Act::Claim),
        6 => key().prop_map(Act::Next),
        7 => (task(), prop::option::weighted(0.2, 1_i64..9)).prop_map(|(task, token)| Act::Complete { task, token }),
        4 => (task(), select(&["", "half"][..])).prop_map(|(task, note)| Act::Release { task, note }),
        2 => (task(), prop::option::weighted(0.8, handle())).prop_map(|(task, to)| Act::Assign { task, to }),
        2 => (task(), any::<bool>()).prop_map(|(task, is_unlinked)| Act::Delete { task, is_unlinked }),
        3 => task().prop_map(Act::Lapse),
        5 => (key(), kind, prop::collection::vec(handle(), 0..3)).prop_map(|(key, kind, to)| Act::Send { key, kind, to }),
        5 => (prop::option::of(0_u64..9), 1_usize..4).prop_map(|(cursor, most)| Act::Read { cursor, most }),
        1 => (prop::option::of(handle()), select(&[0_u32, 60][..]))
            .prop_map(|(target, seconds)| Act::RequestShutdown { target, seconds }),
        2 => (1_u32..4, prop::option::of(Just("not yet"))).prop_map(|(number, reason)| Act::AnswerShutdown { number, reason }),
        1 => (1_u32..4).prop_map(Act::ForceShutdown),
        3 => Just(Act::Look),
    ]
}

/// The team, its members, and six tasks in two chains, with which a program begins.
pub fn beginning() -> Vec<Step> {
    let chain = || Act::Add {
        key: "",
        tasks: [Priority::Normal, Priority::High, Priority::Low]
            .map(|priority| (priority, vec![], vec![]))
            .into(),
        is_chain: true,
    };
    vec![
        ("ann/one", Act::Create("ann")),
        ("bob", Act::Join { handle: "BOB" }),
        ("carl", Act::Join { handle: "carl" }),
        ("bob", chain()),
        ("ann/one", chain()),
        // A member that got a task by chance seldom releases that one.
        ("bob", Act::Claim(1)),
        ("bob", Act::Release { task: 1, note: "half" }),
    ]
}

pub fn step() -> impl Strategy<Value = Step> {
    (select(&WHO[..]), act())
}
