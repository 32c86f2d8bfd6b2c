//! The last build of each branch, kept in memory so that the next build processes only the changes.

use std::collections::VecDeque;

use super::schedule::RepoBranch;

/// Maximum bytes of all builds together, unless the newest alone has more: a branch may import a million files.
const MAX_BYTES: usize = 128 << 20;

/// Builds with their bytes, the newest last.
pub(super) struct RecentBuilds<T> {
    max_builds: usize,
    builds: VecDeque<(RepoBranch, T, usize)>,
}

impl<T> RecentBuilds<T> {
    pub(super) fn new(max_builds: usize) -> Self {
        RecentBuilds {
            max_builds,
            builds: VecDeque::new(),
        }
    }

    pub(super) fn take(&mut self, branch: &RepoBranch) -> Option<T> {
        let index = self.builds.iter().position(|(built, ..)| built == branch)?;
        self.builds.remove(index).map(|(_, build, _)| build)
    }

    /// Adds the build of `branch`, which takes about `bytes`, and removes the oldest builds beyond the limits.
    pub(super) fn put(&mut self, branch: RepoBranch, build: T, bytes: usize) {
        self.take(&branch);
        self.builds.push_back((branch, build, bytes));
        while self.builds.len() > 1 && (self.builds.len() > self.max_builds || self.bytes() > MAX_BYTES) {
            self.builds.pop_front();
        }
    }

    fn bytes(&self) -> usize {
        self.builds.iter().map(|(.., bytes)| bytes).sum()
    }

    pub(super) fn len(&self) -> usize {
        self.builds.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coord_domain::{Branch, RepoId};

    fn branch(number: usize) -> RepoBranch {
        let name = format!("b{number}");
        (
            RepoId::parse("github.com/acme/app").unwrap(),
            Branch::parse(&name).unwrap(),
        )
    }

    #[test]
    fn the_oldest_make_room_by_their_number_and_by_their_bytes() {
        let mut builds = RecentBuilds::new(3);
        for number in 0..4 {
            builds.put(branch(number), number, 1);
        }
        assert_eq!((builds.take(&branch(0)), builds.len()), (None, 3));
        builds.put(branch(4), 4, MAX_BYTES - 1);
        assert_eq!(builds.take(&branch(1)), None);
        assert_eq!(
            (builds.take(&branch(2)), builds.len()),
            (None, 2),
            "too heavy beside the newest"
        );
        assert_eq!(builds.take(&branch(3)), Some(3));
        builds.put(branch(5), 5, MAX_BYTES + 1);
        assert_eq!(builds.len(), 1);
        assert_eq!(builds.take(&branch(5)), Some(5), "the newest stays in any case");
        for build in [6, 7] {
            builds.put(branch(6), build, 1);
        }
        assert_eq!((builds.len(), builds.take(&branch(6))), (1, Some(7)));
    }
}
