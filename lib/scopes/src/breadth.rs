//! Whether a scope covers too much of a branch.

use super::owned_scope::Scope;

/// The number of files that a scope covers, out of all files of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// The covered files.
    pub covered: usize,
    /// All files.
    pub files: usize,
}

/// A scope that covers too much.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BroadScope {
    /// The first segment of a pattern consists of wildcards alone.
    #[error(
        "owned_scope is too broad: {0:?} begins in every folder of the repository; begin with the name of a folder, \
         such as src/{0}"
    )]
    Everywhere(String),
    /// More files than an intent may cover.
    #[error(
        "owned_scope is too broad: it covers {covered} files of the branch, and an intent may cover {most}; name \
         fewer, or split the intent"
    )]
    Files {
        /// The files that it covers.
        covered: usize,
        /// The files that it may cover.
        most: usize,
    },
    #[error(
        "owned_scope is too broad: it covers {covered} of the branch's {files} files, which is more than half; name \
         fewer, or split the intent"
    )]
    Half {
        /// The files that it covers.
        covered: usize,
        /// The files of the branch.
        files: usize,
    },
}

impl Scope {
    /// Counts the files that the scope covers. It is fastest if files of the same folder follow each other.
    pub fn count<P: AsRef<[u8]>>(&self, files: impl IntoIterator<Item = P>) -> Coverage {
        let mut walk = self.walk();
        let mut coverage = Coverage { covered: 0, files: 0 };
        for file in files {
            coverage.files += 1;
            coverage.covered += usize::from(walk.find(file.as_ref()).is_some());
        }
        coverage
    }

    /// Checks that the scope covers no more of `files`, those of the branch, than an intent may: `most` files, and half
    /// of them.
    ///
    /// # Errors
    /// When it is too broad.
    pub fn check_breadth<P: AsRef<[u8]>>(
        &self,
        files: impl IntoIterator<Item = P>,
        most: usize,
    ) -> Result<Coverage, BroadScope> {
        if let Some(pattern) = self.patterns().iter().find(|pattern| pattern.begins_with_wildcards()) {
            return Err(BroadScope::Everywhere(pattern.as_str().to_owned()));
        }
        let coverage @ Coverage { covered, files } = self.count(files);
        if covered > most {
            return Err(BroadScope::Files { covered, most });
        }
        if covered > files / 2 {
            return Err(BroadScope::Half { covered, files });
        }
        Ok(coverage)
    }
}
