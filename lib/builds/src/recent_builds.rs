//! The last build of each branch, kept in memory so that the next one processes only the changes.

use std::collections::VecDeque;

use super::schedule::RepoBranch;

/// Maximum bytes of all of them together, unless the newest alone has more: a branch may import a million files.
const MOST_BYTES: usize = 128 << 20;

/// Builds with their bytes, the newest last.
pub(super) struct RecentBuilds<T> {
    most: usize,
    builds: VecDeque<(RepoBranch, T, usize)>,
}

impl<T> RecentBuilds<T> {
    /// At most `most` builds are kept.
    pub(super) fn new(most: usize) -> Self {
        RecentBuilds {
            most,
            builds: VecDeque::new(),
        }
    }

    pub(super) fn take(&mut self, branch: &RepoBranch) -> Option<T> {
        let place = self.builds.iter().position(|(kept, ..)| kept == branch)?;
        self.builds.remove(place).map(|(_, build, _)| build)
    }

    /// Keeps the build of `branch`, which takes about `bytes`; the oldest make room for it.
    pub(super) fn put(&mut self, branch: RepoBranch, build: T, bytes: usize) {
        self.take(&branch);
        self.builds.push_back((branch, build, bytes));
        let bytes = |builds: &VecDeque<(_, _, usize)>| builds.iter().map(|(.., bytes)| bytes).sum::<usize>();
        while self.builds.len() > 1 && (self.builds.len() > self.most || bytes(&self.builds) > MOST_BYTES) {
            self.builds.pop_front();
        }
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
        let mut kept = RecentBuilds::new(3);
        for number in 0..4 {
            kept.put(branch(number), number, 1);
        }
        assert_eq!((kept.take(&branch(0)), kept.len()), (None, 3));
        kept.put(branch(4), 4, MOST_BYTES - 1);
        assert_eq!(kept.take(&branch(1)), None);
        assert_eq!(
            (kept.take(&branch(2)), kept.len()),
            (None, 2),
            "too heavy beside the newest"
        );
        assert_eq!(kept.take(&branch(3)), Some(3));
        kept.put(branch(5), 5, MOST_BYTES + 1);
        assert_eq!(kept.len(), 1);
        assert_eq!(kept.take(&branch(5)), Some(5), "the newest stays in any case");
        for build in [6, 7] {
            kept.put(branch(6), build, 1);
        }
        assert_eq!((kept.len(), kept.take(&branch(6))), (1, Some(7)));
    }
}
