//! Why a branch has no head, and the fix.

use coord_domain::Branch;
use coord_sources::SourceError;
use coord_sources::name_suggestions::NameSuggestions;

use super::branch_names::SUGGESTIONS_LIMIT;
use super::deadline::Deadline;
use super::repository::{Repository, unreadable};
use super::upstream::HeadLocation;

impl Repository {
    /// Whether `remote` had `branch` at the last fetch.
    fn had_branch(&self, remote: &str, branch: &Branch) -> bool {
        let tracking = format!("refs/remotes/{remote}/{branch}");
        matches!(self.references.resolve(&tracking), Ok(Some(_)))
    }

    /// Why `branch` has no head, and the fix.
    pub(super) fn hint(&self, branch: &Branch) -> Option<String> {
        let is_local = || matches!(self.references.resolve(&format!("refs/heads/{branch}")), Ok(Some(_)));
        match self.head_location(branch).ok()? {
            HeadLocation::NotFetched(remotes) => {
                let (remote, names) = (remotes.first()?, remotes.join(" and "));
                let mut others = self.remotes.iter().filter(|other| !remotes.contains(other));
                if let Some(other) = others.find(|other| self.had_branch(other, branch)) {
                    return Some(format!(
                        "the served clone follows {names}, which did not have it at the last fetch, and {other} has \
                         it; to follow that remote, run git config branch.{branch}.remote {other} there"
                    ));
                }
                if !self.upstreams.is_followed(remote, branch).unwrap_or(true) {
                    return Some(format!(
                        "the served clone does not follow it: if {remote} has it, run git remote set-branches --add \
                         {remote} {branch} && git fetch {remote} there; if not, push it first"
                    ));
                }
                Some(if is_local() {
                    format!(
                        "the served clone has it, but {names} did not at the last fetch; push it (git push -u \
                         {remote} {branch}), or name the branch that the work is for"
                    )
                } else {
                    format!("{names} had no such branch at the last fetch of the served clone")
                })
            }
            HeadLocation::Several(remotes) => {
                let (remote, names) = (remotes.first()?, remotes.join(" and "));
                Some(format!(
                    "{names} have it, and the served clone does not follow one of them; choose one there, for example \
                     git config branch.{branch}.remote {remote}"
                ))
            }
            HeadLocation::At(..) | HeadLocation::Missing => None,
        }
    }

    pub(super) fn unknown_branch(&self, branch: &Branch) -> SourceError {
        if let Err(gone) = self.check_present() {
            return gone;
        }
        let deadline = Deadline::after(SUGGESTIONS_LIMIT);
        let mut suggestions = NameSuggestions::new(branch.as_str());
        let mut is_empty = true;
        let result = self.each_branch(&deadline, |name| {
            is_empty = false;
            suggestions.add(name);
        });
        if let Err(error) = result {
            return unreadable(self, error);
        }
        is_empty &= !self.remotes.iter().any(|remote| self.had_branch(remote, branch))
            && self.objects.handle().head_id().is_err();
        let mut suggestions = suggestions.into_names();
        if suggestions.is_empty() {
            suggestions.extend(self.default_branch().map(|branch| branch.as_str().to_owned()));
        }
        SourceError::UnknownBranch {
            repo: self.id().clone(),
            branch: branch.clone(),
            suggestions,
            is_empty,
            hint: self.hint(branch),
        }
    }
}
