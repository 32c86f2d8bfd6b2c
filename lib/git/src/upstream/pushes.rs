//! Where branches are pushed to, which may be another remote or another name than they are pulled from.

use std::io;
use std::time::Duration;

use coord_domain::Branch;
use gix::ObjectId;

use super::{HeadLocation, ORIGIN, UpstreamConfig, Upstreams};
use crate::branch_names::each_branch;
use crate::deadline::Deadline;
use crate::pushed::{self, RecordedPush};
use crate::references::References;

/// Time limit of a look through the branches of a remote.
const AT_LIMIT: Duration = Duration::from_millis(300);

impl Upstreams {
    /// The head of a branch that is named with its remote, or of one that was pushed to without a reference here.
    pub(super) fn elsewhere(
        &self,
        configured: &UpstreamConfig,
        references: &References,
        branch: &Branch,
    ) -> io::Result<Option<(ObjectId, String)>> {
        for remote in &configured.remotes {
            let rest = branch.as_str().strip_prefix(remote.name.as_str());
            let Some(name) = rest.and_then(|rest| rest.strip_prefix('/')) else {
                continue;
            };
            if let Some(tracking) = remote.tracking(&format!("refs/heads/{name}"), self.hash)
                && let Some(id) = references.resolve(&tracking)?
            {
                return Ok(Some((id, tracking)));
            }
        }
        let own = format!("refs/heads/{branch}");
        let is_meant = |pushed: &RecordedPush| {
            let remote = configured.remotes.iter().find(|remote| remote.name == pushed.remote);
            let is_followed = remote.is_none_or(|remote| remote.tracking(&own, self.hash).is_some());
            pushed.is_there && pushed.branch().as_ref() == Some(branch) && !(pushed.reference == own && is_followed)
        };
        let known = pushed::read(&self.common_dir).into_iter().rfind(is_meant);
        Ok(known.and_then(|pushed| {
            let id = ObjectId::from_hex(pushed.commit.as_str().as_bytes()).ok()?;
            Some((id, format!("refs/remotes/{}/{branch}", pushed.remote)))
        }))
    }

    /// Whether a reference here follows `branch` at `remote`, once that is fetched.
    pub(crate) fn is_followed(&self, remote: &str, branch: &Branch) -> io::Result<bool> {
        let configured = self.read_config()?;
        let remote = configured.remotes.iter().find(|known| known.name == remote);
        let own = format!("refs/heads/{branch}");
        Ok(remote.is_some_and(|remote| remote.tracking(&own, self.hash).is_some()))
    }

    /// The remote of the upstream of `branch`, and the full name of the upstream there.
    pub(crate) fn upstream(&self, branch: &Branch) -> io::Result<Option<(String, Option<String>)>> {
        Ok(self.read_config()?.upstreams.get(branch.as_str()).cloned())
    }

    /// The remote that `git push` pushes to, from `branch` or without one.
    pub(crate) fn push_remote(&self, branch: Option<&Branch>) -> io::Result<Option<String>> {
        let configured = self.read_config()?;
        let of_branch = branch.and_then(|branch| {
            let pushed = configured.push_remote(branch);
            let upstream = configured
                .upstreams
                .get(branch.as_str())
                .map(|(remote, _)| remote.as_str());
            // A dot stands for a branch of the clone itself.
            pushed.or(upstream.filter(|upstream| *upstream != "."))
        });
        let mut remotes = configured.remotes.iter().map(|remote| remote.name.as_str());
        let usual = || match (
            remotes.clone().find(|name| *name == ORIGIN),
            remotes.next(),
            remotes.next(),
        ) {
            (Some(origin), ..) => Some(origin),
            (None, Some(only), None) => Some(only),
            _ => None,
        };
        let named = of_branch.or(configured.push_default.as_deref()).or_else(usual);
        let is_remote = |name: &&str| configured.remotes.iter().any(|remote| remote.name == *name);
        Ok(named.filter(is_remote).map(str::to_owned))
    }

    /// The branches of remotes whose head is `commit`, by the names that [`Upstreams::place`] finds them by.
    pub(crate) fn at(&self, references: &References, remote: &str, commit: &ObjectId) -> io::Result<Option<Branch>> {
        let configured = self.read_config()?;
        let Some(remote) = configured.remotes.iter().find(|known| known.name == remote) else {
            return Ok(None);
        };
        let deadline = Deadline::after(AT_LIMIT);
        for folder in remote.folders() {
            let mut names = Vec::new();
            each_branch(references, &self.common_dir, &folder, &deadline, |name| {
                names.push(name.to_owned());
            })?;
            for name in names {
                let is_it = references.resolve(&format!("{folder}{name}"))?.as_ref() == Some(commit);
                if is_it && let Ok(branch) = Branch::parse(&name) {
                    let with_remote = || Branch::parse(&format!("{}/{name}", remote.name)).ok();
                    let is_found = matches!(self.place(references, &branch)?, HeadLocation::At(id, _) if id == *commit);
                    return Ok(if is_found { Some(branch) } else { with_remote() });
                }
            }
        }
        let is_it = |pushed: &RecordedPush| pushed.is_there && commit.to_hex() == pushed.commit.as_str();
        let known = pushed::read(&self.common_dir).into_iter().rfind(is_it);
        Ok(known.and_then(|pushed| pushed.branch()))
    }
}
