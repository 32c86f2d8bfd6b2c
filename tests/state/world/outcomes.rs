//! Outcomes taken apart, and findings in short.

use coord_domain::LockEntry;
use coord_domain::work::Shortfall;
use coord_state::admission::{Admitted, Denial, Question};
use coord_state::locks::{ClaimOutcome, Finding, Relation, ReleaseOutcome, Released, Survey};

/// Returns the outcome of a request that must have been admitted.
pub fn answered<T>(admitted: Admitted<T>) -> T {
    match admitted {
        Admitted::Outcome(answer) => answer,
        Admitted::Denied(stop) => panic!("{stop:?}"),
    }
}

/// Why a question was not answered, which must be so.
pub fn denial_of<T: std::fmt::Debug>(admitted: Admitted<T>) -> Denial {
    match admitted {
        Admitted::Denied(stop) => stop,
        Admitted::Outcome(answer) => panic!("{answer:?}"),
    }
}

/// Returns the question that the denial must be.
pub fn question_of<T: std::fmt::Debug>(admitted: Admitted<T>) -> Question {
    match denial_of(admitted) {
        Denial::Question(question) => question,
        stop => panic!("{stop:?}"),
    }
}

/// The survey of a claim that must have been granted.
pub fn granted(outcome: ClaimOutcome) -> Survey {
    match outcome {
        ClaimOutcome::Claimed(survey) => survey,
        other => panic!("{other:?}"),
    }
}

/// The survey of a claim that must have been refused as stale.
pub fn stale(outcome: ClaimOutcome) -> Survey {
    match outcome {
        ClaimOutcome::Stale(survey) => survey,
        other => panic!("{other:?}"),
    }
}

/// Returns the result of a release that must have succeeded.
pub fn released(outcome: ReleaseOutcome) -> Released {
    match outcome {
        ReleaseOutcome::Released(released) => *released,
        other => panic!("{other:?}"),
    }
}

/// The files whose work a refused release did not find on the branch, sorted, and why.
pub fn not_pushed(outcome: ReleaseOutcome) -> Vec<(String, Shortfall)> {
    match outcome {
        ReleaseOutcome::NotPushed { mut unpushed, .. } => {
            unpushed.sort_by(|one, other| one.0.cmp(&other.0));
            unpushed
        }
        other => panic!("{other:?}"),
    }
}

/// The locks of others for which a release was refused.
pub fn lost(outcome: ReleaseOutcome) -> Vec<LockEntry> {
    match outcome {
        ReleaseOutcome::Lost { others, .. } => others,
        other => panic!("{other:?}"),
    }
}

/// The file and the login of each lock.
pub fn files_and_users(locks: &[LockEntry]) -> Vec<(&str, &str)> {
    locks
        .iter()
        .map(|lock| (lock.file_path.as_str(), lock.user_id.as_str()))
        .collect()
}

/// Findings in short: `DIRECT! a.ts ann` (it blocks), `NEIGHBOR b.ts ann via a.ts`, sorted.
pub fn in_short(findings: &[Finding]) -> Vec<String> {
    let line = |finding: &Finding| {
        let relation = match finding.relation {
            Relation::Direct => "DIRECT",
            Relation::Neighbor => "NEIGHBOR",
            Relation::CrossBranch => "CROSS_BRANCH",
            Relation::Reserved => "RESERVED",
            Relation::Waiting => "WAITING",
            Relation::Pending => "PENDING",
            Relation::PendingInterface => "PENDING_INTERFACE",
        };
        let sign = if finding.blocks { "!" } else { "" };
        let entry = &finding.entry;
        let via = match finding.relation {
            Relation::Neighbor | Relation::PendingInterface => format!(" via {}", finding.via),
            _ => String::new(),
        };
        format!("{relation}{sign} {} {}{via}", entry.file_path, entry.user_id)
    };
    let mut lines: Vec<String> = findings.iter().map(line).collect();
    lines.sort();
    lines
}
