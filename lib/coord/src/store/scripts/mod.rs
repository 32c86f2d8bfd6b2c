//! Typed calls of the Lua scripts: what to ask, and every outcome that a script can answer, decoded in one place.

mod entry;
mod graph;
mod head;
mod identity;
mod lock;
mod probe;
mod release;
mod reply;
mod sweep;

pub use entry::{
    Entered, Entry, Full, HeadTerms, Limited, Rate, Rates, SeenHead, Stop, TooMuch, enter, enter_without_head,
};
pub use graph::{
    BuildLease, GraphPatch, Published, StagedPart, discard_graph, fail_build, lease_build, patch_graph, publish_graph,
    report_build, return_lease, stage_graph, touch_graph,
};
pub use head::{HeadChange, LearntHead, Pushed, PushedHead, fail_head, forget_head, push_head, record_head};
pub use identity::{RememberedMember, forget, recall, remember};
pub use lock::{ClaimOutcome, Direction, Finding, Held, Relation, Survey, Wanted, check_status, claim};
pub use probe::probe;
pub use release::{Judged, Release, ReleaseOutcome, Released, Written, release};
pub use sweep::{Swept, TakenRepository, settle_due, sweep, take_due};

use super::keys;
use super::script::script;
use crate::domain::{Branch, RepoId};

script!(
    /// What stands in the way.
    CHECK_STATUS, "check_status", repeatable: true,
    ["context", "events", "held", "entries", "holder", "heads", "limits", "enter", "neighbors", "survey", "graph_age"]
);
script!(
    /// All of some files, or none.
    CLAIM, "claim", repeatable: false,
    ["context", "events", "held", "entries", "refusal", "holder", "heads", "limits", "enter", "neighbors", "survey",
     "graph_age", "tokens", "releases"]
);
script!(
    /// Gives files back.
    RELEASE, "release", repeatable: false,
    [
        "context", "events", "held", "entries", "refusal", "holder", "heads", "limits", "enter", "neighbors", "graph_age",
        "releases"
    ]
);
script!(
    /// Lets a question in.
    ENTER, "enter", repeatable: true, ["context", "heads", "limits", "enter"]
);
script!(
    /// Drops and announces what has expired.
    SWEEP, "sweep", repeatable: false, ["context", "events", "held", "entries"]
);
script!(
    /// Notes that a repository is about to hold a lock.
    MARK_DUE, "mark_due", repeatable: true, ["context"]
);
script!(
    /// Takes that back where nothing was locked.
    UNMARK_DUE, "unmark_due", repeatable: true, ["context"]
);
script!(
    /// Takes the repositories in which something may have expired.
    TAKE_DUE, "take_due", repeatable: false, ["context"]
);
script!(
    /// Ends the turn of a sweep at one repository.
    SETTLE_DUE, "settle_due", repeatable: false, ["context"]
);
script!(
    /// Notes the newest commit of a branch.
    RECORD_HEAD, "record_head", repeatable: true, ["context", "events", "set_head"]
);
script!(
    /// Notes that the head of a branch could not be asked for.
    FAIL_HEAD, "fail_head", repeatable: true, ["context", "graph_age"]
);
script!(
    /// Notes what a webhook tells of a push.
    PUSH_HEAD, "push_head", repeatable: true, ["context", "events", "set_head"]
);
script!(
    /// One builder at a time.
    LEASE_BUILD, "lease_build", repeatable: true, ["context", "graph_age"]
);
script!(
    /// Notes that somebody asks about a graph.
    TOUCH_GRAPH, "touch_graph", repeatable: true, ["context", "graph_age"]
);
script!(
    /// Tells how far a build is.
    REPORT_BUILD, "report_build", repeatable: true, ["context"]
);
script!(
    /// Writes a part of a new graph beside the old one.
    STAGE_GRAPH, "stage_graph", repeatable: true, ["context"]
);
script!(
    /// Puts the new graph in the place of the old one.
    PUBLISH_GRAPH, "publish_graph", repeatable: false, ["context", "graph_age", "events", "publish"]
);
script!(
    /// Turns the stored graph into another by what differs.
    PATCH_GRAPH, "patch_graph", repeatable: false, ["context", "graph_age", "events", "publish"]
);
script!(
    /// Notes why a build failed.
    FAIL_BUILD, "fail_build", repeatable: true, ["context"]
);
script!(
    /// Gives the lease on a build back.
    RETURN_LEASE, "return_lease", repeatable: true, ["context"]
);
script!(
    /// Notes that the stored graph cannot be read.
    DISCARD_GRAPH, "discard_graph", repeatable: true, ["context"]
);
script!(
    /// Shows whether the store can be written.
    PROBE, "probe", repeatable: true, ["context"]
);

/// Every script, for warming a store and for tests.
pub static ALL: [&crate::store::Script; 22] = [
    &CHECK_STATUS,
    &CLAIM,
    &RELEASE,
    &ENTER,
    &SWEEP,
    &MARK_DUE,
    &UNMARK_DUE,
    &TAKE_DUE,
    &SETTLE_DUE,
    &RECORD_HEAD,
    &FAIL_HEAD,
    &PUSH_HEAD,
    &LEASE_BUILD,
    &TOUCH_GRAPH,
    &REPORT_BUILD,
    &STAGE_GRAPH,
    &PUBLISH_GRAPH,
    &PATCH_GRAPH,
    &FAIL_BUILD,
    &RETURN_LEASE,
    &DISCARD_GRAPH,
    &PROBE,
];

/// How many of the KEYS are those of `includes/enter.lua`.
const ENTRY_KEYS: usize = 5;

/// The hash of a graph, and its parts.
fn graph_keys(repo: &RepoId, branch: &Branch) -> Vec<String> {
    vec![
        keys::graph(repo, branch),
        keys::graph_adjacency(repo, branch),
        keys::graph_json(repo, branch),
        keys::graph_scan(repo, branch),
    ]
}

/// KEYS of the scripts that look at the locks of a branch, in their order: those that every question enters by come first.
fn branch_keys(entry: &Entry<'_>) -> Vec<String> {
    let Entry { repo, branch, .. } = entry;
    let mut keys = entry.keys();
    keys.extend([
        keys::locks(repo),
        keys::expiries(repo),
        keys::graph(repo, branch),
        keys::graph_adjacency(repo, branch),
        keys::status_log(repo),
        keys::events(repo),
        keys::held(repo),
        keys::graph_json(repo, branch),
        keys::graph_scan(repo, branch),
        keys::refusals(repo),
    ]);
    keys
}
