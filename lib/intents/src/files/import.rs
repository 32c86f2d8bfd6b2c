//! Changes by people in `active_intents.yaml`, by a three-way comparison: the last written version, the file, and the
//! store.

use std::collections::HashMap;

use super::Registry;
use crate::intent::{Intent, Permitted, Status};

/// Changes to apply from a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FileChanges {
    /// Changes by people. Empty as soon as there is a problem.
    pub changes: Vec<Change>,
    /// Why nothing is taken.
    pub problems: Vec<Problem>,
    /// Members that people changed and that are the store's alone, as `(id, member)`: the next writing puts them back.
    pub put_back: Vec<(String, &'static str)>,
    /// Intents of the store that people removed from the file. They stay: an intent ends as ABANDONED.
    pub removed: Vec<String>,
}

/// One intent that is new or changed in the file.
#[derive(Debug, PartialEq, Eq)]
pub struct Change {
    /// The intent as it is to be: the store's, with the members of the file that people changed. A new one is the file's.
    pub intent: Intent,
    /// The changed members; empty for a new intent.
    pub members: Vec<&'static str>,
    /// Whether only a person may do this.
    pub needs_person: bool,
}

/// A member that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub id: String,
    pub member: &'static str,
    /// Why.
    pub reason: Reason,
}

/// Why a member cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The store has changed it too, to something else; or the last written version is unknown.
    Conflict,
    /// It can be changed only while the intent is PENDING.
    Frozen,
    /// There is no such transition.
    Transition { from: Status, to: Status },
}

/// A person's permissions for a member.
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
    same: fn(&Intent, &Intent) -> bool,
    take: fn(&mut Intent, &Intent),
}

macro_rules! member {
    ($rule:ident, $member:ident) => {
        Member {
            name: stringify!($member),
            rule: Rule::$rule,
            same: |a, b| a.$member == b.$member,
            take: |to, from| to.$member.clone_from(&from.$member),
        }
    };
    ($rule:ident, budget.$member:ident) => {
        Member {
            name: concat!("budget.", stringify!($member)),
            rule: Rule::$rule,
            same: |a, b| a.budget.unwrap_or_default().$member == b.budget.unwrap_or_default().$member,
            take: |to, from| to.budget.get_or_insert_default().$member = from.budget.unwrap_or_default().$member,
        }
    };
}

/// Every member but the id, and people's permissions for it.
const MEMBERS: [Member; 17] = [
    member!(Edit, name),
    member!(Edit, description),
    member!(Transition, status),
    member!(Edit, constraints),
    member!(WhilePending, owned_scope),
    Member {
        name: "acceptance_criteria",
        rule: Rule::Edit,
        same: same_criteria,
        take: take_criteria,
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
        same: same_marks,
        take: |_, _| {},
    },
];

fn same_criteria(a: &Intent, b: &Intent) -> bool {
    a.acceptance_criteria
        .iter()
        .map(|criterion| &criterion.text)
        .eq(b.acceptance_criteria.iter().map(|criterion| &criterion.text))
}

/// A criterion keeps the store's proof as long as it keeps its words.
fn take_criteria(to: &mut Intent, from: &Intent) {
    let store = std::mem::take(&mut to.acceptance_criteria);
    to.acceptance_criteria.clone_from(&from.acceptance_criteria);
    for criterion in &mut to.acceptance_criteria {
        criterion.met = store
            .iter()
            .find(|known| known.text == criterion.text)
            .and_then(|known| known.met.clone());
    }
}

/// Whether criteria that both have are met by the same proof.
fn same_marks(a: &Intent, b: &Intent) -> bool {
    a.acceptance_criteria.iter().all(|criterion| {
        let other = b.acceptance_criteria.iter().find(|other| other.text == criterion.text);
        other.is_none_or(|other| other.met == criterion.met)
    })
}

/// Compares the file with `base`, the last written version (none: unknown), and with the store. Changes by the store
/// alone are irrelevant here: the next writing brings them into the file.
pub fn import_changes(base: Option<&Registry>, file: &Registry, store: &[Intent]) -> FileChanges {
    let index = |intents: &'_ [Intent]| -> HashMap<String, Intent> {
        intents
            .iter()
            .map(|intent| (intent.id.clone(), intent.clone()))
            .collect()
    };
    let base = base.map(|base| index(base.intents())).unwrap_or_default();
    let known = index(store);
    let mut result = FileChanges::default();
    for intent in file.intents() {
        match known.get(&intent.id) {
            Some(stored) => compare(base.get(&intent.id), intent, stored, &mut result),
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
    let is_removed = |intent: &&Intent| base.contains_key(&intent.id) && !is_in_file(&intent.id);
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
        let same = member.same;
        if same(file, store) || base.is_some_and(|base| same(file, base)) {
            continue;
        }
        let problem = |reason| Problem {
            id: store.id.clone(),
            member: member.name,
            reason,
        };
        let is_conflict = base.is_none_or(|base| !same(store, base));
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
            Rule::Transition => match store.status.transition(file.status) {
                None => {
                    result.problems.push(problem(Reason::Transition {
                        from: store.status,
                        to: file.status,
                    }));
                    continue;
                }
                Some(Permitted::Anyone) => {}
                Some(Permitted::Person) => change.needs_person = true,
                Some(Permitted::OnceCriteriaAreMet) => change.needs_person |= !store.criteria_are_met(),
            },
            Rule::Edit | Rule::WhilePending => {}
        }
        (member.take)(&mut change.intent, file);
        change.members.push(member.name);
    }
    change.needs_person |= raises_a_limit(store, &change.intent);
    // Criteria that came with the completion are not met.
    change.needs_person |= change.intent.status == Status::Completed
        && change.members.contains(&"status")
        && !change.intent.criteria_are_met();
    if !change.members.is_empty() {
        result.changes.push(change);
    }
}

/// Removing a limit raises it as well.
fn raises_a_limit(before: &Intent, after: &Intent) -> bool {
    let raised =
        |before: Option<u64>, after: Option<u64>| before.is_some_and(|before| after.is_none_or(|after| after > before));
    let (before, after) = (before.budget.unwrap_or_default(), after.budget.unwrap_or_default());
    raised(before.max_turns, after.max_turns) || raised(before.max_tokens, after.max_tokens)
}
