//! Typed calls of the Lua scripts: what to ask, and every outcome that a script can answer, decoded in one place.

mod admission;
mod graph;
mod head;
mod identity;
mod lock;
mod probe;
mod release;
mod reply;
mod sweep;

pub use admission::{
    AdmissionTerms, Admitted, Denial, Full, HeadTerms, Limited, Rate, Rates, SeenHead, TooMuch, admit,
    admit_without_head,
};
pub use graph::{
    BuildLease, GraphPatch, Published, StagedPart, discard_graph, fail_build, lease_build, patch_graph, publish_graph,
    report_build, return_lease, stage_graph, touch_graph,
};
pub use head::{HeadChange, LearntHead, Pushed, PushedHead, fail_head, forget_head, push_head, record_head};
pub use identity::{RememberedMember, forget, recall, remember};
pub use lock::{ClaimOutcome, Direction, Finding, Held, Relation, Spelled, Survey, Wanted, check_status, claim};
pub use probe::probe;
pub use release::{Judged, Release, ReleaseOutcome, Released, Written, release};
pub use sweep::{Swept, TakenRepository, settle_due, sweep, take_due};

use super::keys;
use super::script::scripts;
use crate::domain::{Branch, RepoId};

scripts! {
    /// What stands in the way.
    CHECK_STATUS = "check_status", repeatable: true;
    /// All of some files, or none.
    CLAIM = "claim", repeatable: false;
    /// Gives files back.
    RELEASE = "release", repeatable: false;
    /// Lets a request in.
    ADMIT = "admit", repeatable: true;
    /// Drops and announces what has expired.
    SWEEP = "sweep", repeatable: false;
    /// Notes that a repository is about to hold a lock.
    MARK_DUE = "mark_due", repeatable: true;
    /// Takes that back where nothing was locked.
    UNMARK_DUE = "unmark_due", repeatable: true;
    /// Takes the repositories in which something may have expired.
    TAKE_DUE = "take_due", repeatable: false;
    /// Ends the turn of a sweep at one repository.
    SETTLE_DUE = "settle_due", repeatable: false;
    /// Notes the newest commit of a branch.
    RECORD_HEAD = "record_head", repeatable: true;
    /// Notes that the head of a branch could not be asked for.
    FAIL_HEAD = "fail_head", repeatable: true;
    /// Notes what a webhook tells of a push.
    PUSH_HEAD = "push_head", repeatable: true;
    /// One builder at a time.
    LEASE_BUILD = "lease_build", repeatable: true;
    /// Notes that somebody asks about a graph.
    TOUCH_GRAPH = "touch_graph", repeatable: true;
    /// Tells how far a build is.
    REPORT_BUILD = "report_build", repeatable: true;
    /// Writes a part of a new graph beside the old one.
    STAGE_GRAPH = "stage_graph", repeatable: true;
    /// Puts the new graph in the place of the old one.
    PUBLISH_GRAPH = "publish_graph", repeatable: false;
    /// Turns the stored graph into another by what differs.
    PATCH_GRAPH = "patch_graph", repeatable: false;
    /// Notes why a build failed.
    FAIL_BUILD = "fail_build", repeatable: true;
    /// Gives the lease on a build back.
    RETURN_LEASE = "return_lease", repeatable: true;
    /// Notes that the stored graph cannot be read.
    DISCARD_GRAPH = "discard_graph", repeatable: true;
    /// Shows whether the store can be written.
    PROBE = "probe", repeatable: true;
}

/// The hash of a graph, and its parts.
fn graph_keys(repo: &RepoId, branch: &Branch) -> Vec<String> {
    vec![
        keys::graph(repo, branch),
        keys::graph_adjacency(repo, branch),
        keys::graph_json(repo, branch),
        keys::graph_scan(repo, branch),
    ]
}

/// KEYS of the scripts that look at the locks of a branch, by `includes/request.lua`.
fn branch_keys(entry: &AdmissionTerms<'_>) -> Vec<String> {
    let AdmissionTerms { repo, branch, .. } = entry;
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
