//! Finds people's changes to `active_intents.yaml` by a three-way comparison of the last written version, the file, and
//! the store.

use std::collections::HashMap;

use super::Registry;
use crate::intent::{Intent, Status, TransitionActor};

/// Changes to apply from a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FileChanges {
    /// Changes by people. Empty if there is a problem.
    pub changes: Vec<Change>,
    /// Why nothing is imported.
    pub problems: Vec<Problem>,
    /// Members that people changed but only the store may change, as `(id, member)`. The next write restores them.
    pub put_back: Vec<(String, &'static str)>,
    /// Ids of intents that people removed from the file. The store keeps them: an intent is given up as ABANDONED.
    pub removed: Vec<String>,
}

/// One intent that is new or changed in the file.
#[derive(Debug, PartialEq, Eq)]
pub struct Change {
    /// The resulting intent: that of the store with the members that people changed, or a new one as in the file.
    pub intent: Intent,
    /// The changed members; empty for a new intent.
    pub members: Vec<&'static str>,
    /// Whether only a person may make this change.
    pub needs_person: bool,
}

/// A member that cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub id: String,
    pub member: &'static str,
    pub reason: Reason,
}

/// Why a member cannot be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The store has a different change, or the last written version is unknown.
    Conflict,
    /// It can be changed only while the intent is PENDING.
    Frozen,
    /// There is no such transition.
    Transition { from: Status, to: Status },
}

/// How people may change a member.
#[derive(Clone, Copy)]
enum Rule {
    Edit,
    WhilePending,
    Transition,
    PutBack,
}

struct Member {
    name: &'static str,
    rule: Rule,
    is_same: fn(&Intent, &Intent) -> bool,
    copy: fn(&mut Intent, &Intent),
}

macro_rules! member {
    ($rule:ident, $member:ident) => {
        Member {
            name: stringify!($member),
            rule: Rule::$rule,
            is_same: |a, b| a.$member == b.$member,
            copy: |to, from| to.$member.clone_from(&from.$member),
        }
    };
    ($rule:ident, budget.$member:ident) => {
        Member {
            name: concat!("budget.", stringify!($member)),
            rule: Rule::$rule,
            is_same: |a, b| a.budget.unwrap_or_default().$member == b.budget.unwrap_or_default().$member,
            copy: |to, from| to.budget.get_or_insert_default().$member = from.budget.unwrap_or_default().$member,
        }
    };
}

/// Every member but the id, with its rule.
const MEMBERS: [Member; 17] = [
    member!(Edit, name),
    member!(Edit, description),
    member!(Transition, status),
    member!(Edit, constraints),
    member!(WhilePending, owned_scope),
    Member {
        name: "acceptance_criteria",
        rule: Rule::Edit,
        is_same: have_same_criteria,
        copy: copy_criteria,
    },
    member!(Edit, budget.max_turns),
    member!(Edit, budget.max_tokens),
    member!(PutBack, budget.consumed_turns),
    member!(PutBack, budget.consumed_tokens),
    member!(PutBack, assigned_agent),
    member!(PutBack, created_at),
    member!(PutBack, updated_at),
    member!(WhilePending, branch),
    member!(WhilePending, supplements),
    member!(Edit, related_specs),
    Member {
        name: "criteria",
        rule: Rule::PutBack,
        is_same: have_same_proofs,
        copy: |_, _| {},
    },
];

fn have_same_criteria(a: &Intent, b: &Intent) -> bool {
    a.criterion_texts().eq(b.criterion_texts())
}

/// A criterion keeps the proof in the store as long as its text stays the same.
fn copy_criteria(to: &mut Intent, from: &Intent) {
    let stored = std::mem::take(&mut to.acceptance_criteria);
    to.acceptance_criteria.clone_from(&from.acceptance_criteria);
    for criterion in &mut to.acceptance_criteria {
        criterion.met = stored
            .iter()
            .find(|stored| stored.text == criterion.text)
            .and_then(|stored| stored.met.clone());
    }
}

/// Whether the criteria that are in both have the same proofs.
fn have_same_proofs(a: &Intent, b: &Intent) -> bool {
    a.acceptance_criteria.iter().all(|criterion| {
        let other = b.acceptance_criteria.iter().find(|other| other.text == criterion.text);
        other.is_none_or(|other| other.met == criterion.met)
    })
}

fn by_id(intents: &[Intent]) -> HashMap<&str, &Intent> {
    intents.iter().map(|intent| (intent.id.as_str(), intent)).collect()
}

/// Compares the file with `base`, the last written version (`None` if unknown), and with the store. Ignores changes
/// that only the store has: the next write puts them into the file.
pub fn import_changes(base: Option<&Registry>, file: &Registry, store: &[Intent]) -> FileChanges {
    let base = base.map(|base| by_id(base.intents())).unwrap_or_default();
    let stored = by_id(store);
    let mut result = FileChanges::default();
    for intent in file.intents() {
        let id = intent.id.as_str();
        match stored.get(id) {
            Some(stored) => compare(base.get(id).copied(), intent, stored, &mut result),
            None => result.changes.push(Change {
                intent: intent.clone(),
                members: Vec::new(),
                needs_person: intent.status != Status::Pending
                    || intent
                        .acceptance_criteria
                        .iter()
                        .any(|criterion| criterion.met.is_some()),
            }),
        }
    }
    let is_in_file = |id: &str| file.intents().iter().any(|intent| intent.id == id);
    let is_removed = |intent: &&Intent| base.contains_key(intent.id.as_str()) && !is_in_file(&intent.id);
    result.removed = store
        .iter()
        .filter(is_removed)
        .map(|intent| intent.id.clone())
        .collect();
    if !result.problems.is_empty() {
        result.changes.clear();
    }
    result
}

fn compare(base: Option<&Intent>, file: &Intent, store: &Intent, result: &mut FileChanges) {
    let mut change = Change {
        intent: store.clone(),
        members: Vec::new(),
        needs_person: false,
    };
    for member in &MEMBERS {
        let is_same = member.is_same;
        if is_same(file, store) || base.is_some_and(|base| is_same(file, base)) {
            continue;
        }
        let problem = |reason| Problem {
            id: store.id.clone(),
            member: member.name,
            reason,
        };
        let is_conflict = base.is_none_or(|base| !is_same(store, base));
        match member.rule {
            Rule::PutBack => {
                if base.is_some() {
                    result.put_back.push((store.id.clone(), member.name));
                }
                continue;
            }
            _ if is_conflict => {
                result.problems.push(problem(Reason::Conflict));
                continue;
            }
            Rule::WhilePending if store.status != Status::Pending => {
                result.problems.push(problem(Reason::Frozen));
                continue;
            }
            Rule::Transition => match TransitionActor::of(store.status, file.status) {
                None => {
                    result.problems.push(problem(Reason::Transition {
                        from: store.status,
                        to: file.status,
                    }));
                    continue;
                }
                Some(TransitionActor::Anyone) => {}
                Some(TransitionActor::Person) => change.needs_person = true,
                Some(TransitionActor::OnceCriteriaAreMet) => change.needs_person |= !store.criteria_are_met(),
            },
            Rule::Edit | Rule::WhilePending => {}
        }
        (member.copy)(&mut change.intent, file);
        change.members.push(member.name);
    }
    let (before, after) = (
        store.budget.unwrap_or_default(),
        change.intent.budget.unwrap_or_default(),
    );
    change.needs_person |= after.raises_a_limit_of(before);
    // Criteria that the file adds along with the completion are not met.
    change.needs_person |= change.intent.status == Status::Completed
        && change.members.contains(&"status")
        && !change.intent.criteria_are_met();
    if !change.members.is_empty() {
        result.changes.push(change);
    }
}
