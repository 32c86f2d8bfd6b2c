//! The remote and the name that a branch is pushed to. A branch may be pushed to another remote, or by another name, than it is pulled from.

use std::io;
use std::time::Duration;

use coord_domain::Branch;
use gix::ObjectId;

use super::{HeadLocation, ORIGIN, UpstreamConfig, Upstreams};
use crate::branch_names::each_branch;
use crate::deadline::Deadline;
use crate::pushed::{self, RecordedPush};
use crate::references::References;

/// Time limit for searching the branches of a remote.
const SEARCH_LIMIT: Duration = Duration::from_millis(300);

impl Upstreams {
    /// The head of a branch that is named together with its remote, or that was pushed to without a reference here.
    pub(super) fn pushed_head(
        &self,
        config: &UpstreamConfig,
        references: &References,
        branch: &Branch,
    ) -> io::Result<Option<(ObjectId, String)>> {
        for remote in &config.remotes {
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
        let is_without_reference = |push: &RecordedPush| {
            let remote = config.remotes.iter().find(|remote| remote.name == push.remote);
            let is_followed = remote.is_none_or(|remote| remote.tracking(&own, self.hash).is_some());
            push.is_there && push.branch().as_ref() == Some(branch) && !(push.reference == own && is_followed)
        };
        let push = pushed::read(&self.common_dir).into_iter().rfind(is_without_reference);
        Ok(push.and_then(|push| {
            let id = ObjectId::from_hex(push.commit.as_str().as_bytes()).ok()?;
            Some((id, format!("refs/remotes/{}/{branch}", push.remote)))
        }))
    }

    /// Whether the `fetch` lines give `branch` at `remote` a reference here.
    pub(crate) fn is_followed(&self, remote: &str, branch: &Branch) -> io::Result<bool> {
        let config = self.read_config()?;
        let remote = config.remotes.iter().find(|other| other.name == remote);
        let own = format!("refs/heads/{branch}");
        Ok(remote.is_some_and(|remote| remote.tracking(&own, self.hash).is_some()))
    }

    /// The remote of the upstream of `branch`, and the full name of the upstream there.
    pub(crate) fn upstream(&self, branch: &Branch) -> io::Result<Option<(String, Option<String>)>> {
        Ok(self.read_config()?.upstreams.get(branch.as_str()).cloned())
    }

    /// The remote that `git push` pushes to, from `branch` or from a detached HEAD.
    pub(crate) fn push_remote(&self, branch: Option<&Branch>) -> io::Result<Option<String>> {
        let config = self.read_config()?;
        let branch_remote = branch.and_then(|branch| {
            let push_remote = config.push_remote(branch);
            let upstream = config.upstreams.get(branch.as_str());
            let upstream_remote = upstream.map(|(remote, _)| remote.as_str());
            // A dot stands for the clone itself.
            push_remote.or(upstream_remote.filter(|remote| *remote != "."))
        });
        let mut remotes = config.remotes.iter().map(|remote| remote.name.as_str());
        let default = || match (
            remotes.clone().find(|name| *name == ORIGIN),
            remotes.next(),
            remotes.next(),
        ) {
            (Some(origin), ..) => Some(origin),
            (None, Some(only), None) => Some(only),
            _ => None,
        };
        let name = branch_remote.or(config.push_default.as_deref()).or_else(default);
        let is_remote = |name: &&str| config.remotes.iter().any(|remote| remote.name == *name);
        Ok(name.filter(is_remote).map(str::to_owned))
    }

    /// A branch of `remote` whose head is `commit`, by the name by which [`Upstreams::head_location`] finds it.
    pub(crate) fn branch_at(
        &self,
        references: &References,
        remote: &str,
        commit: &ObjectId,
    ) -> io::Result<Option<Branch>> {
        let config = self.read_config()?;
        let Some(remote) = config.remotes.iter().find(|other| other.name == remote) else {
            return Ok(None);
        };
        let deadline = Deadline::after(SEARCH_LIMIT);
        for folder in remote.folders() {
            let mut names = Vec::new();
            each_branch(references, &self.common_dir, &folder, &deadline, |name| {
                names.push(name.to_owned());
            })?;
            for name in names {
                let is_at_commit = references.resolve(&format!("{folder}{name}"))?.as_ref() == Some(commit);
                if is_at_commit && let Ok(branch) = Branch::parse(&name) {
                    let with_remote = || Branch::parse(&format!("{}/{name}", remote.name)).ok();
                    let location = self.head_location(references, &branch)?;
                    let is_head = matches!(location, HeadLocation::At(id, _) if id == *commit);
                    return Ok(if is_head { Some(branch) } else { with_remote() });
                }
            }
        }
        let is_of_commit = |push: &RecordedPush| push.is_there && commit.to_hex() == push.commit.as_str();
        let push = pushed::read(&self.common_dir).into_iter().rfind(is_of_commit);
        Ok(push.and_then(|push| push.branch()))
    }
}
