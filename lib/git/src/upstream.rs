//! The reference that is the head of a branch: the remote-tracking branch, or the clone's own.
//!
//! Agents push to a remote, so the head of a branch is the remote-tracking branch, which `git fetch` and `git push`
//! move. It is found as git finds it, by the `fetch` lines of the remote. The remote of the branch's upstream is
//! searched first, then `origin`, and last the remote that the branch is pushed to, as in a fork. Without an upstream
//! and `origin`, all remotes are searched. The name of the upstream branch does not count: a branch `feature` that was
//! created from `origin/main` is not `main`. A branch of another remote can be named together with its remote:
//! `fork/main`.
//!
//! The clone's own `refs/heads/BRANCH` is the head
//! - in a bare repository without worktrees, because others push to it;
//! - in a mirror, whose `fetch` lines point there;
//! - without a remote, or with one that was never fetched, until the first push or fetch.
//!
//! Once anything of a remote has been fetched, a branch that the remote does not have is unknown. It is never read from
//! the clone's own reference, which would name a commit that no other clone can have.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use coord_domain::Branch;
use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::config::File;
use gix::refspec::match_group::Item;
use gix::refspec::parse::Operation;
use gix::refspec::{MatchGroup, RefSpec};
use parking_lot::Mutex;
use quick_cache::sync::Cache;

use super::identity::remote_sections;
use super::references::{References, Stamp};

mod pushes;

/// Maximum number of local names in memory, for each remote.
const MAX_TRACKED: usize = 1024;

/// The remotes of a repository and the upstreams of its branches, as now configured.
pub(super) struct Upstreams {
    common_dir: PathBuf,
    options: gix::open::Options,
    hash: gix::hash::Kind,
    config: Mutex<CachedConfig>,
    /// Remotes that have had a reference at some time: a remote whose last branch is deleted has still been fetched.
    fetched: Mutex<HashSet<String>>,
}

#[derive(Debug)]
struct CachedConfig {
    stamp: Option<Stamp>,
    config: Arc<UpstreamConfig>,
}

/// The relevant part of the configuration.
#[derive(Debug, Default)]
struct UpstreamConfig {
    is_bare: bool,
    remotes: Vec<Remote>,
    /// Branch -> remote of its upstream, and the full name there. If no name is configured (`None`), it is the branch's
    /// own.
    upstreams: HashMap<String, (String, Option<String>)>,
    /// Branch -> `pushRemote`.
    push_remotes: HashMap<String, String>,
    /// `remote.pushDefault`.
    push_default: Option<String>,
}

#[derive(Debug)]
struct Remote {
    name: String,
    /// The `fetch` lines.
    specs: Vec<RefSpec>,
    /// Local names of references of the remote, cached on first use.
    tracking: Cache<String, Option<String>>,
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
        let cached = CachedConfig {
            stamp: Stamp::at(&common_dir.join("config")).ok(),
            config: Arc::new(UpstreamConfig::read(config)),
        };
        Upstreams {
            common_dir,
            options,
            hash,
            config: Mutex::new(cached),
            fetched: Mutex::default(),
        }
    }

    pub(super) fn head_location(&self, references: &References, branch: &Branch) -> io::Result<HeadLocation> {
        let config = self.read_config()?;
        let own = format!("refs/heads/{branch}");
        let location_at = |name: String| {
            let id = references.resolve(&name)?;
            Ok(id.map_or(HeadLocation::Missing, |id| HeadLocation::At(id, name)))
        };
        if self.is_pushed_to(&config) {
            return location_at(own);
        }
        let mut heads = Vec::new();
        let mut remotes_without_branch = Vec::new();
        let (candidates, is_in_order) = config.candidates(branch);
        for remote in candidates {
            let tracking = remote.tracking(&own, self.hash);
            if tracking.as_deref() == Some(own.as_str()) {
                return location_at(own);
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
                (Some(id), Some(name)) => heads.push((remote, id, name)),
                _ if self.is_fetched(references, remote)? => {
                    remotes_without_branch.push(remote.name.clone());
                    if config.is_upstream(branch, remote, &own) {
                        break;
                    }
                }
                _ => {}
            }
        }
        match heads.len() {
            0 => match self.pushed_head(&config, references, branch)? {
                Some((id, name)) => Ok(HeadLocation::At(id, name)),
                None if remotes_without_branch.is_empty() => location_at(own),
                None => Ok(HeadLocation::NotFetched(remotes_without_branch)),
            },
            1 => Ok(heads
                .pop()
                .map_or(HeadLocation::Missing, |(_, id, name)| HeadLocation::At(id, name))),
            _ => Ok(HeadLocation::Several(
                heads.into_iter().map(|(remote, ..)| remote.name.clone()).collect(),
            )),
        }
    }

    /// The remotes that heads are read from, by name.
    pub(super) fn remotes(&self) -> io::Result<Vec<String>> {
        let config = self.read_config()?;
        let has_upstream = |name: &str| config.upstreams.values().any(|(remote, _)| remote == name);
        let has_origin = config.remotes.iter().any(|remote| remote.name == ORIGIN);
        let is_read = |remote: &&Remote| {
            !remote.specs.is_empty() && (!has_origin || remote.name == ORIGIN || has_upstream(&remote.name))
        };
        let remotes = config.remotes.iter().filter(is_read);
        Ok(remotes.map(|remote| remote.name.clone()).collect())
    }

    /// Folders of references that can contain the head of a branch, such as `refs/remotes/origin/`.
    pub(super) fn folders(&self, references: &References) -> io::Result<Vec<String>> {
        let config = self.read_config()?;
        let mut folders = Vec::new();
        if !self.is_pushed_to(&config) {
            for remote in &config.remotes {
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

    /// Branches that `fetch` lines name individually, as in a single-branch clone, and that were fetched.
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

    /// The configuration, read again if the file has been replaced.
    fn read_config(&self) -> io::Result<Arc<UpstreamConfig>> {
        let stamp = Stamp::at(&self.common_dir.join("config")).ok();
        let mut cached = self.config.lock();
        if cached.stamp != stamp {
            let repository = self.options.clone().open(&self.common_dir).map_err(io::Error::other)?;
            let config = UpstreamConfig::read(repository.to_thread_local().config_snapshot().plumbing());
            *cached = CachedConfig {
                stamp,
                config: Arc::new(config),
            };
        }
        Ok(Arc::clone(&cached.config))
    }

    /// Whether others push to the repository's own branches: it is bare and has no worktrees.
    fn is_pushed_to(&self, config: &UpstreamConfig) -> bool {
        let has_worktrees = || {
            let worktrees = std::fs::read_dir(self.common_dir.join("worktrees"));
            worktrees.is_ok_and(|mut worktrees| worktrees.next().is_some())
        };
        config.is_bare && !has_worktrees()
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
        // Branches that `fetch` lines name individually.
        for name in remote.tracking_names().filter(|name| !name.contains('*')) {
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
            let specs = specs.iter().filter_map(|spec| {
                let spec = gix::refspec::parse(spec.as_bstr(), Operation::Fetch).ok()?;
                Some(spec.to_owned())
            });
            match remotes.iter_mut().find(|remote| remote.name == name) {
                Some(remote) => remote.specs.extend(specs),
                None => remotes.push(Remote {
                    name,
                    specs: specs.collect(),
                    tracking: Cache::new(MAX_TRACKED),
                }),
            }
        }
        let mut push_remotes = HashMap::new();
        for section in config.sections_by_name("branch").into_iter().flatten() {
            let Some(branch) = section.header().subsection_name().map(ToString::to_string) else {
                continue;
            };
            // The value from all sections of the branch: `git config` writes into the last one.
            let value = |name| config.string_by("branch", branch.as_str(), name);
            if let Some(remote) = value("pushRemote") {
                push_remotes.insert(branch.clone(), remote.to_string());
            }
            if let Some(remote) = value("remote") {
                let merge = value("merge").map(|merge| merge.to_string());
                upstreams.insert(branch, (remote.to_string(), merge));
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
        for name in upstream.into_iter().chain([ORIGIN]) {
            self.add_candidate(&mut candidates, name);
        }
        if candidates.is_empty() {
            return (self.remotes.iter().collect(), false);
        }
        if let Some(name) = self.push_remote(branch) {
            self.add_candidate(&mut candidates, name);
        }
        (candidates, true)
    }

    fn add_candidate<'a>(&'a self, candidates: &mut Vec<&'a Remote>, name: &str) {
        let is_new = candidates.iter().all(|remote| remote.name != name);
        if is_new && let Some(remote) = self.remotes.iter().find(|remote| remote.name == name) {
            candidates.push(remote);
        }
    }

    /// The remote that `branch` is pushed to by the configuration.
    fn push_remote(&self, branch: &Branch) -> Option<&str> {
        let branch_remote = self.push_remotes.get(branch.as_str());
        branch_remote.or(self.push_default.as_ref()).map(String::as_str)
    }

    /// Whether `own`, the full name of `branch`, is the name of its upstream at `remote`.
    fn is_upstream(&self, branch: &Branch, remote: &Remote, own: &str) -> bool {
        let Some((upstream_remote, name)) = self.upstreams.get(branch.as_str()) else {
            return false;
        };
        *upstream_remote == remote.name && name.as_deref().is_none_or(|name| name == own)
    }
}

impl Remote {
    /// The local name of `name`, a reference of the remote.
    fn tracking(&self, name: &str, hash: gix::hash::Kind) -> Option<String> {
        if let Some(tracking) = self.tracking.get(name) {
            return tracking;
        }
        let tracking = self.find_tracking(name, hash);
        self.tracking.insert(name.to_owned(), tracking.clone());
        tracking
    }

    fn find_tracking(&self, name: &str, hash: gix::hash::Kind) -> Option<String> {
        let null_id = hash.null();
        let item = Item {
            full_ref_name: name.as_bytes().as_bstr(),
            target: &null_id,
            object: None,
        };
        let group = MatchGroup::from_fetch_specs(self.specs.iter().map(RefSpec::to_ref));
        let mut mappings = group.match_lhs(std::iter::once(item)).mappings.into_iter();
        let name = mappings.find_map(|mapping| mapping.rhs).map(Cow::into_owned)?;
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
