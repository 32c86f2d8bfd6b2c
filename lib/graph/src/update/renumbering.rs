//! Maps the ids of files in one version to those in the next.

use std::sync::Arc;

use crate::file::{FileId, NO_FILE};
use crate::resolution::{Resolution, ResolvedSpecifiers};
use crate::tree::{TreeEntry, pair_by_path};

/// A map between the ids of two versions.
#[derive(Debug)]
pub(super) struct Renumbering {
    pub(super) old_of: Vec<FileId>,
    pub(super) new_of: Vec<FileId>,
}

impl Renumbering {
    /// The older resolution with this version's ids. `None` if one of its files no longer exists.
    pub(super) fn apply(&self, older: &Arc<ResolvedSpecifiers>) -> Option<Arc<ResolvedSpecifiers>> {
        let new_of = |old: FileId| self.new_of.get(old as usize).copied().filter(|new| *new != NO_FILE);
        let renumber = |outcome: &Resolution| match outcome {
            Resolution::File(old) => new_of(*old).map(Resolution::File),
            unresolved => Some(*unresolved),
        };
        let outcomes: Box<[Resolution]> = older.outcomes.iter().map(renumber).collect::<Option<_>>()?;
        let renumber_extra = |(specifier, old): &(u32, FileId)| Some((*specifier, new_of(*old)?));
        let extra_targets: Box<[(u32, FileId)]> =
            older.extra_targets.iter().map(renumber_extra).collect::<Option<_>>()?;
        if outcomes == older.outcomes && extra_targets == older.extra_targets {
            return Some(Arc::clone(older));
        }
        Some(Arc::new(ResolvedSpecifiers {
            outcomes,
            extra_targets,
            keys: older.keys.clone(),
            work: older.work,
        }))
    }
}

/// The map between two sorted lists of files. `None` if the paths are the same.
pub(super) fn renumber(old: &[TreeEntry], new: &[TreeEntry]) -> Option<Renumbering> {
    if old.len() == new.len() && old.iter().zip(new).all(|(one, other)| one.path == other.path) {
        return None;
    }
    let mut renumbering = Renumbering {
        old_of: vec![NO_FILE; new.len()],
        new_of: vec![NO_FILE; old.len()],
    };
    for pair in pair_by_path(new, old) {
        if let (Some(id), Some(old_id)) = pair {
            renumbering.old_of[id as usize] = old_id;
            renumbering.new_of[old_id as usize] = id;
        }
    }
    Some(renumbering)
}
