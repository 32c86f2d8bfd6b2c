//! The reference that is the head of a branch: the remote-tracking branch, or the clone's own.
//!
//! Agents push to a remote, so the head of a branch is the remote's: the remote-tracking branch, which `git fetch` and `git
//! push` move. It is found as git finds it, by the `fetch` lines of the remote. The remote of the branch's upstream counts
//! first, then `origin`, or the only remote where none has that name, and last the remote that the branch is pushed to, as in a
//! fork. The name of the upstream branch does not count: a branch `feature` made from `origin/main` is not `main`. A branch of
//! another remote can be named with it: `fork/main`.
//!
//! The clone's own `refs/heads/BRANCH` is the head
//! - in a bare repository without worktrees: others push to it;
//! - in a mirror, whose `fetch` lines point there;
//! - without a remote, or with one that was never fetched: the first push or fetch changes that.
//!
//! Once anything of a remote has been fetched, a branch that the remote does not have is unknown. It is never read from the
//! clone's own reference, which would name a commit that no other clone can have.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use coord_domain::Branch;
use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::config::File;
use gix::refspec::match_group::Item;
use gix::refspec::parse::Operation;
use gix::refspec::{MatchGroup, RefSpec};
use parking_lot::Mutex;
use quick_cache::sync::Cache;

use super::identity::remote_sections;
use super::references::{References, Stamp};

mod pushes;

/// The remotes of a repository and the upstreams of its branches, as now configured.
pub(super) struct Upstreams {
    common_dir: PathBuf,
    options: gix::open::Options,
    hash: gix::hash::Kind,
    known: Mutex<KnownConfig>,
    /// Remotes that have had a reference at some time: a remote whose last branch is deleted has still been fetched.
    fetched: Mutex<HashSet<String>>,
}

/// Maximum number of such names in memory, for each remote.
const MOST_TRACKED: usize = 1024;

#[derive(Debug)]
struct KnownConfig {
    stamp: Option<Stamp>,
    configured: Arc<UpstreamConfig>,
}

/// The relevant part of the configuration.
#[derive(Debug, Default)]
struct UpstreamConfig {
    is_bare: bool,
    remotes: Vec<Remote>,
    /// Branch -> remote of its upstream, and the full name there, which is the branch's own where none is configured.
    upstreams: HashMap<String, (String, Option<String>)>,
    /// Branch -> `pushRemote`.
    push_remotes: HashMap<String, String>,
    /// `remote.pushDefault`.
    push_default: Option<String>,
}

#[derive(Debug)]
struct Remote {
    name: String,
    specs: Vec<RefSpec>,
    /// The names here of references of the remote, as far as they were needed.
    tracked: Cache<String, Option<String>>,
}

/// The location of the head of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HeadLocation {
    /// The commit, and the reference that names it.
    At(ObjectId, String),
    /// These remotes have been fetched, and none has the branch.
    NotFetched(Vec<String>),
    /// Each of these remotes has it, and the configuration does not say which counts.
    Several(Vec<String>),
    /// There is no such branch.
    Missing,
}

impl Upstreams {
    pub(super) fn new(common_dir: PathBuf, options: gix::open::Options, config: &File, hash: gix::hash::Kind) -> Self {
        let stamp = Stamp::at(&common_dir.join("config")).ok();
        let configured = Arc::new(UpstreamConfig::read(config));
        Upstreams {
            common_dir,
            options,
            hash,
            known: Mutex::new(KnownConfig { stamp, configured }),
            fetched: Mutex::default(),
        }
    }

    /// The location of the head of `branch`.
    pub(super) fn place(&self, references: &References, branch: &Branch) -> io::Result<HeadLocation> {
        let configured = self.read_config()?;
        let own = format!("refs/heads/{branch}");
        let at = |name: String| {
            let id = references.resolve(&name)?;
            Ok(id.map_or(HeadLocation::Missing, |id| HeadLocation::At(id, name)))
        };
        if self.is_pushed_to(&configured) {
            return at(own);
        }
        let mut found = Vec::new();
        let mut without = Vec::new();
        let (candidates, is_in_order) = configured.candidates(branch);
        for remote in candidates {
            let tracking = remote.tracking(&own, self.hash);
            if tracking.as_deref() == Some(own.as_str()) {
                return at(own);
            }
            let id = match &tracking {
                Some(name) => references.resolve(name)?,
                None => None,
            };
            if id.is_some() {
                self.note_fetched(remote);
            }
            match (id, tracking) {
                (Some(id), Some(name)) if is_in_order => return Ok(HeadLocation::At(id, name)),
                (Some(id), Some(name)) => found.push((remote, id, name)),
                _ if self.is_fetched(references, remote)? => {
                    without.push(remote.name.clone());
                    if configured.is_upstream(branch, remote, &own) {
                        break;
                    }
                }
                _ => {}
            }
        }
        match found.len() {
            0 => match self.elsewhere(&configured, references, branch)? {
                Some((id, name)) => Ok(HeadLocation::At(id, name)),
                None if without.is_empty() => at(own),
                None => Ok(HeadLocation::NotFetched(without)),
            },
            1 => Ok(found
                .pop()
                .map_or(HeadLocation::Missing, |(_, id, name)| HeadLocation::At(id, name))),
            _ => Ok(HeadLocation::Several(
                found.into_iter().map(|(remote, ..)| remote.name.clone()).collect(),
            )),
        }
    }

    /// The remotes that heads are read from, by name.
    pub(super) fn remotes(&self) -> io::Result<Vec<String>> {
        let configured = self.read_config()?;
        let upstream = |name: &str| configured.upstreams.values().any(|(remote, _)| remote == name);
        let has_origin = configured.remotes.iter().any(|remote| remote.name == ORIGIN);
        let is_read = |remote: &&Remote| {
            !remote.specs.is_empty() && (!has_origin || remote.name == ORIGIN || upstream(&remote.name))
        };
        let remotes = configured.remotes.iter().filter(is_read);
        Ok(remotes.map(|remote| remote.name.clone()).collect())
    }

    /// Folders of references that can contain the head of a branch, such as `refs/remotes/origin/`.
    pub(super) fn folders(&self, references: &References) -> io::Result<Vec<String>> {
        let configured = self.read_config()?;
        let mut folders = Vec::new();
        if !self.is_pushed_to(&configured) {
            for remote in &configured.remotes {
                if self.is_fetched(references, remote)? {
                    folders.extend(remote.folders());
                }
            }
        }
        if folders.is_empty() && self.exact_branches(references)?.is_empty() {
            folders.push("refs/heads/".to_owned());
        }
        folders.dedup();
        Ok(folders)
    }

    /// Branches that `fetch` lines name one by one, as in a single-branch clone, and that were fetched.
    pub(super) fn exact_branches(&self, references: &References) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for remote in &self.read_config()?.remotes {
            for spec in &remote.specs {
                let spec = spec.to_ref();
                let source = spec.source().and_then(|source| source.strip_prefix(b"refs/heads/"));
                let name = source
                    .and_then(|name| name.to_str().ok())
                    .filter(|name| !name.contains('*'));
                let Some(name) = name else { continue };
                let tracking = remote.tracking(&format!("refs/heads/{name}"), self.hash);
                if let Some(tracking) = tracking
                    && references.resolve(&tracking)?.is_some()
                {
                    names.push(name.to_owned());
                }
            }
        }
        Ok(names)
    }

    /// The configuration, read again where the file has been replaced.
    fn read_config(&self) -> io::Result<Arc<UpstreamConfig>> {
        let stamp = Stamp::at(&self.common_dir.join("config")).ok();
        let mut known = self.known.lock();
        if known.stamp != stamp {
            let opened = self.options.clone().open(&self.common_dir).map_err(io::Error::other)?;
            let configured = UpstreamConfig::read(opened.to_thread_local().config_snapshot().plumbing());
            *known = KnownConfig {
                stamp,
                configured: Arc::new(configured),
            };
        }
        Ok(Arc::clone(&known.configured))
    }

    /// Whether others push to its own branches: it is bare and has no worktrees.
    fn is_pushed_to(&self, configured: &UpstreamConfig) -> bool {
        let has_worktrees = || {
            let worktrees = std::fs::read_dir(self.common_dir.join("worktrees"));
            worktrees.is_ok_and(|mut worktrees| worktrees.next().is_some())
        };
        configured.is_bare && !has_worktrees()
    }

    fn note_fetched(&self, remote: &Remote) {
        let mut fetched = self.fetched.lock();
        if !fetched.contains(&remote.name) {
            fetched.insert(remote.name.clone());
        }
    }

    fn is_fetched(&self, references: &References, remote: &Remote) -> io::Result<bool> {
        if self.fetched.lock().contains(&remote.name) {
            return Ok(true);
        }
        for name in remote.exact() {
            if references.resolve(&name)?.is_some() {
                self.note_fetched(remote);
                return Ok(true);
            }
        }
        for folder in remote.folders() {
            if references.has_any(&folder)? {
                self.note_fetched(remote);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

const ORIGIN: &str = "origin";

impl UpstreamConfig {
    fn read(config: &File) -> Self {
        let mut remotes: Vec<Remote> = Vec::new();
        let mut upstreams = HashMap::new();
        for (name, section) in remote_sections(config) {
            let specs = section.values("fetch");
            let specs = specs.iter().filter_map(|spec| parse(spec.as_bstr()));
            match remotes.iter_mut().find(|remote| remote.name == name) {
                Some(remote) => remote.specs.extend(specs),
                None => remotes.push(Remote {
                    name,
                    specs: specs.collect(),
                    tracked: Cache::new(MOST_TRACKED),
                }),
            }
        }
        for section in config.sections_by_name("branch").into_iter().flatten() {
            let Some(branch) = section.header().subsection_name().map(ToString::to_string) else {
                continue;
            };
            // Of all sections of the branch: `git config` writes into the last one.
            let value = |name| config.string_by("branch", branch.as_str(), name);
            if let Some(remote) = value("remote") {
                let merge = value("merge").map(|merge| merge.to_string());
                upstreams.insert(branch, (remote.to_string(), merge));
            }
        }
        let mut push_remotes = HashMap::new();
        for section in config.sections_by_name("branch").into_iter().flatten() {
            if let Some(branch) = section.header().subsection_name().map(ToString::to_string)
                && let Some(remote) = config.string_by("branch", branch.as_str(), "pushRemote")
            {
                push_remotes.insert(branch, remote.to_string());
            }
        }
        UpstreamConfig {
            push_remotes,
            push_default: config.string("remote.pushDefault").map(|name| name.to_string()),
            is_bare: config.boolean("core.bare").ok().flatten().unwrap_or(false),
            remotes,
            upstreams,
        }
    }

    /// The remotes that may have `branch`, and whether the first one that has it counts.
    fn candidates(&self, branch: &Branch) -> (Vec<&Remote>, bool) {
        let upstream = self.upstreams.get(branch.as_str()).map(|(remote, _)| remote.as_str());
        let mut candidates: Vec<&Remote> = Vec::new();
        let add = |candidates: &mut Vec<_>, name: &str| {
            let remote = self.remotes.iter().find(|remote| remote.name == name);
            candidates
                .extend(remote.filter(|remote| candidates.iter().all(|other: &&Remote| other.name != remote.name)));
        };
        upstream
            .into_iter()
            .chain([ORIGIN])
            .for_each(|name| add(&mut candidates, name));
        if candidates.is_empty() {
            return (self.remotes.iter().collect(), false);
        }
        self.push_remote(branch)
            .into_iter()
            .for_each(|name| add(&mut candidates, name));
        (candidates, true)
    }

    /// The remote that the configuration sends pushes of `branch` to.
    fn push_remote(&self, branch: &Branch) -> Option<&str> {
        let of_branch = self.push_remotes.get(branch.as_str());
        of_branch.or(self.push_default.as_ref()).map(String::as_str)
    }

    /// Whether `own`, the full name of `branch`, is the name of its upstream at `remote`.
    fn is_upstream(&self, branch: &Branch, remote: &Remote, own: &str) -> bool {
        let upstream = self.upstreams.get(branch.as_str());
        upstream.is_some_and(|(of, merge)| *of == remote.name && merge.as_deref().is_none_or(|merge| merge == own))
    }
}

fn parse(spec: &BStr) -> Option<RefSpec> {
    gix::refspec::parse(spec, Operation::Fetch)
        .ok()
        .map(|spec| spec.to_owned())
}

impl Remote {
    /// The local name of `name`, a reference of the remote.
    fn tracking(&self, name: &str, hash: gix::hash::Kind) -> Option<String> {
        if let Some(tracked) = self.tracked.get(name) {
            return tracked;
        }
        let tracked = self.find_tracking(name, hash);
        self.tracked.insert(name.to_owned(), tracked.clone());
        tracked
    }

    fn find_tracking(&self, name: &str, hash: gix::hash::Kind) -> Option<String> {
        let nobody = hash.null();
        let item = Item {
            full_ref_name: name.as_bytes().as_bstr(),
            target: &nobody,
            object: None,
        };
        let group = MatchGroup::from_fetch_specs(self.specs.iter().map(RefSpec::to_ref));
        let found = group.match_lhs(std::iter::once(item)).mappings;
        let name = found.into_iter().find_map(|mapping| mapping.rhs).map(Cow::into_owned)?;
        gix::validate::reference::name(name.as_bstr()).ok()?;
        String::from_utf8(name.into()).ok()
    }

    /// Folders of the remote's branches, such as `refs/remotes/origin/`.
    fn folders(&self) -> impl Iterator<Item = String> {
        self.tracking_names().filter_map(|name| {
            let (before, _) = name.split_once('*')?;
            let folder = &before[..=before.rfind('/')?];
            Some(folder.to_owned())
        })
    }

    /// References of single branches of the remote.
    fn exact(&self) -> impl Iterator<Item = String> {
        self.tracking_names().filter(|name| !name.contains('*'))
    }

    /// Right sides of the `fetch` lines for branches, except those that are the clone's own branches.
    fn tracking_names(&self) -> impl Iterator<Item = String> {
        self.specs.iter().filter_map(|spec| {
            let spec = spec.to_ref();
            let source = spec.source()?;
            if !source.starts_with(b"refs/heads/") && source != "refs/*" {
                return None;
            }
            let name = spec.destination()?.to_str().ok()?;
            let is_own = name.starts_with("refs/heads/") || name == "refs/*";
            (name.starts_with("refs/") && !is_own).then(|| name.to_owned())
        })
    }
}
