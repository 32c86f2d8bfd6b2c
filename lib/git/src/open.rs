//! From paths on a command line to repositories.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coord_domain::{Branch, CommitSha, RepoId};
use coord_sources::Tip;
use gix::odb::store::init::Slots;
use gix::open::{Options, Permissions, permissions};
use gix::sec::Permission;
use gix::sec::trust::Mapping;

use super::branch_names::SUGGESTIONS_LIMIT;
use super::index_prefetch::IndexPrefetch;
use super::objects::Objects;
use super::open_error::{OpenError, display_path, open_error, sentence, unreadable};
use super::repository::Repository;
use super::upstream::Upstreams;
use super::{checkout, deadline, external_git, identity, references, special_files};

/// Maximum packs that a server has open at once. gix's default is a few more than there are, at least 32. A server that
/// sees many fetches between two runs of `git gc` can exceed that. An unused slot costs about 200 bytes.
const PACK_SLOTS: u16 = 2048;

/// The purpose for which a repository is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To read it as long as the server runs.
    Serving,
    /// To read one commit, once.
    OneCommit,
    /// To find out which commits a working copy is at.
    WorkingCopy,
}

/// The result of opening one of the given paths, as of then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedRepository {
    pub repo: RepoId,
    /// The root of the worktree that contains the path, or the folder of a bare repository. Absolute.
    pub path: PathBuf,
    /// The folder that all worktrees of the repository share, absolute: mostly `.git` of the main worktree.
    pub git_folder: PathBuf,
    /// The branch that is checked out in this worktree. If HEAD is detached, or names no branch, or a branch without a
    /// head: the branch that `origin/HEAD` names, else `main`, else `master`, else the only branch, if it has a head.
    pub default_branch: Option<Branch>,
    /// The commit that is checked out in this worktree, full length. `None` if it has no commit yet.
    pub head: Option<CommitSha>,
    /// The head of `default_branch`. `None` if the branch has no commit yet, or no head.
    pub tip: Option<Tip>,
    /// The branch that is checked out, if it has a commit but no head: it was never pushed, or several remotes have it.
    pub headless: Option<Branch>,
    /// Why it has no head, and the fix.
    pub hint: Option<String>,
    /// Whether HEAD names a commit and no branch.
    pub detached: bool,
    /// Whether history is cut off: the repository is a shallow clone.
    pub shallow: bool,
    /// Whether no branch has a commit, and HEAD has none either.
    pub is_empty: bool,
}

impl OpenedRepository {
    /// Whether a remote gives the repository its name, so that there may be other clones of it.
    pub fn has_remote(&self) -> bool {
        !identity::is_local(&self.repo)
    }
}

/// Repositories, and the result for each path.
type OpenedPaths = (Vec<Arc<Repository>>, Vec<OpenedRepository>);

/// The repositories that contain `paths`, and the result for each path.
pub(super) fn open(paths: &[PathBuf], purpose: Purpose, machine: Option<&str>) -> Result<OpenedPaths, OpenError> {
    let mut repositories: Vec<Arc<Repository>> = Vec::new();
    let mut results: Vec<OpenedRepository> = Vec::new();
    for path in paths {
        let mut worktree = Worktree::open(path, purpose)?;
        let opened_before = repositories
            .iter()
            .find(|repository| repository.common_dir() == worktree.common_dir);
        let repository = match opened_before {
            Some(repository) => Arc::clone(repository),
            None => {
                let repository = worktree.repository(machine)?;
                // Several clones with one remote are one repository. Without a remote, two of the same name are two.
                let same_id = repositories.iter().find(|other| other.id() == repository.id());
                if let Some(other) = same_id.filter(|_| identity::is_local(repository.id())) {
                    return Err(OpenError::SameId {
                        repo: repository.id().clone(),
                        first: display_path(other.common_dir()),
                        second: display_path(repository.common_dir()),
                    });
                }
                let repository = Arc::new(match purpose {
                    Purpose::Serving => repository.with_anchor(),
                    Purpose::OneCommit | Purpose::WorkingCopy => repository,
                });
                repositories.push(Arc::clone(&repository));
                repository
            }
        };
        let result = worktree.describe(&repository)?;
        if let Some(checkout) = worktree.checkout() {
            repository.add_worktree(checkout);
            if let Some(prefetch) = worktree.prefetch.take() {
                *repository.prefetch.lock() = Some(prefetch);
            }
        }
        if !results.iter().any(|other| other.path == result.path) {
            results.push(result);
        }
    }
    Ok((repositories, results))
}

/// The repository with git's own folder `common_dir`, to read it as long as the server runs.
pub(super) fn clone(common_dir: &Path) -> Result<Repository, OpenError> {
    let worktree = Worktree::open(common_dir, Purpose::Serving)?;
    Ok(worktree.repository(None)?.with_anchor())
}

pub(super) fn revision(path: &Path, revision: &str) -> Result<CommitSha, OpenError> {
    let worktree = Worktree::open(path, Purpose::Serving)?;
    let revision_error = |why: String| OpenError::Revision {
        revision: revision.to_owned(),
        path: worktree.path.clone(),
        why,
    };
    if worktree.is_reftable {
        let commit = format!("{revision}^{{commit}}");
        let output = worktree.run_git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]);
        let commit = output.ok_or_else(|| revision_error("git finds none".to_owned()))?;
        return CommitSha::parse(&commit).map_err(|invalid| revision_error(invalid.to_string()));
    }
    let id = worktree.handle.rev_parse_single(revision);
    let object = id.and_then(|id| id.object()).and_then(gix::Object::peel_tags_to_end);
    let commit = object.map_err(|error| revision_error(sentence(&error)))?;
    if commit.kind != gix::objs::Kind::Commit {
        return Err(revision_error(format!("it is a {}", commit.kind)));
    }
    CommitSha::parse(&commit.id.to_string()).map_err(|invalid| revision_error(invalid.to_string()))
}

/// A worktree, or a bare repository.
pub(super) struct Worktree {
    pub(super) handle: gix::Repository,
    /// Its root, absolute, without symbolic links.
    pub(super) path: PathBuf,
    /// The folder that all worktrees of the repository share, absolute, without symbolic links.
    pub(super) common_dir: PathBuf,
    purpose: Purpose,
    /// Whether only git can read its HEAD.
    is_reftable: bool,
    /// Its index, if that is already being read.
    prefetch: Option<IndexPrefetch>,
}

impl Worktree {
    /// The worktree or bare repository that a user names by `path`. A bare repository has to be the folder itself. The
    /// current folder (`.`) is the default of commands, so it does not name a bare repository.
    pub(super) fn open(path: &Path, purpose: Purpose) -> Result<Self, OpenError> {
        special_files::check(path, true)?;
        let has_dot_git = gix::discover::is_git(&path.join(".git")).is_ok();
        let is_git_folder = path != Path::new(".") && !has_dot_git && gix::discover::is_git(path).is_ok();
        Self::find(path, purpose, !is_git_folder)
    }

    /// The worktree that `path` is in. Only a `.git` counts, because files of a repository may look like git's own
    /// folder.
    pub(super) fn containing(path: &Path) -> Result<Self, OpenError> {
        Self::find(path, Purpose::WorkingCopy, true)
    }

    fn find(path: &Path, purpose: Purpose, dot_git_only: bool) -> Result<Self, OpenError> {
        let folder = readable_folder(path)?;
        special_files::check(&folder, !dot_git_only)?;
        let (found, trust) = gix::discover::upwards_opts(&folder, search_options(dot_git_only))
            .map_err(|error| open_error(&folder, &error))?;
        let root = root_of(&found);
        let prefetch = match purpose {
            Purpose::Serving | Purpose::WorkingCopy => None,
            Purpose::OneCommit => IndexPrefetch::start(&found, trust),
        };
        let handle = open_trusted(&folder, &root, purpose, dot_git_only)?.to_thread_local();
        let absolute = |path: &Path| path.canonicalize().map_err(|error| unreadable(path, error));
        let common_dir = absolute(handle.common_dir())?;
        let path = absolute(handle.workdir().unwrap_or(handle.git_dir()))?;
        if dot_git_only && handle.workdir().is_some() && path != absolute(&root)? {
            return Err(OpenError::Unsupported {
                path: root,
                why: "its core.worktree names another folder; run `git config --unset core.worktree` there, or name \
                      its git folder",
            });
        }
        let storage = handle.config_snapshot().string("extensions.refStorage");
        let is_reftable = storage.is_some_and(|storage| !storage.eq_ignore_ascii_case(b"files"));
        if is_reftable && !(references::is_reftable(&common_dir) && external_git::trusts(&folder) == Ok(true)) {
            return Err(OpenError::Unsupported {
                path,
                why: "it keeps its references in the reftable format, which git 2.45 or later can read; install \
                      that, or convert the repository with `git refs migrate --ref-format=files`",
            });
        }
        Ok(Worktree {
            is_reftable,
            handle,
            path,
            common_dir,
            purpose,
            prefetch,
        })
    }

    /// The output of git in this worktree, without the line end. `None` if there is none.
    fn run_git(&self, args: &[&str]) -> Option<String> {
        let output = external_git::run_git(self.handle.git_dir(), args)?;
        Some(output.trim_end().to_owned()).filter(|output| !output.is_empty())
    }

    /// The full name of the branch that is checked out; `None` if HEAD names a commit.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn head_name(&self) -> Result<Option<String>, String> {
        if self.is_reftable {
            let name = self.run_git(&["symbolic-ref", "--quiet", "HEAD"]);
            let is_readable = name.is_some() || self.head_id().is_some();
            return is_readable
                .then_some(name)
                .ok_or_else(|| "git does not read HEAD".to_owned());
        }
        let head = self.handle.head().map_err(|error| error.to_string())?;
        Ok(head.referent_name().map(|name| name.as_bstr().to_string()))
    }

    /// The commit that is checked out. `None` before the first one.
    pub(super) fn head_id(&self) -> Option<gix::ObjectId> {
        if self.is_reftable {
            let id = self.run_git(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
            return gix::ObjectId::from_hex(id.as_bytes()).ok();
        }
        Some(self.handle.head_id().ok()?.detach())
    }

    /// The repository that the worktree belongs to. It is opened at the shared folder, so that it stays readable when
    /// the worktree is removed.
    pub(super) fn repository(&self, machine: Option<&str>) -> Result<Repository, OpenError> {
        let options = options(self.purpose)
            .open_path_as_is(true)
            // The search for the worktree has checked the owner of the repository.
            .with(gix::sec::Trust::Full)
            .bail_if_untrusted(false);
        let config = self.handle.config_snapshot();
        let upstreams = Upstreams::new(
            self.common_dir.clone(),
            options.clone(),
            config.plumbing(),
            self.handle.object_hash(),
        );
        let is_shared = self
            .handle
            .git_dir()
            .canonicalize()
            .is_ok_and(|folder| folder == self.common_dir);
        let objects = if is_shared {
            Objects::new(&self.common_dir, options, self.handle.clone().into_sync())
        } else {
            Objects::open(&self.common_dir, options).map_err(|error| open_error(&self.common_dir, &error))?
        };
        let remotes = identity::remotes(config.plumbing());
        let id = identity::repo_id(&remotes, &self.common_dir, machine);
        let id =
            id.ok_or_else(|| unreadable(&self.path, "the name of its folder is not a valid name of a repository"))?;
        let remotes = remotes.into_iter().map(|(name, _)| name).collect();
        Ok(Repository::new(
            id,
            self.common_dir.clone(),
            remotes,
            upstreams,
            objects,
            self.handle.object_hash(),
        ))
    }

    /// The checkout to read files from; `None` in a bare repository.
    fn checkout(&self) -> Option<checkout::WorktreePaths> {
        self.handle.workdir()?;
        let config = self.handle.config_snapshot();
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let configured = config.trusted_path("core.attributesFile").ok().flatten();
        let user_default = std::env::var_os("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(home?.join(".config")))
            .map(|folder| folder.join("git/attributes"));
        let attributes = [
            Some(self.common_dir.join("info/attributes")),
            Some(PathBuf::from("/etc/gitattributes")),
            configured.or(user_default),
        ];
        let mut filters = config.plumbing().sections_by_name("filter").into_iter().flatten();
        let has_filters =
            filters.any(|filter| filter.contains_value_name("smudge") || filter.contains_value_name("process"));
        Some(checkout::WorktreePaths {
            root: self.path.clone(),
            git_dir: self.handle.git_dir().to_owned(),
            attributes: attributes.into_iter().flatten().collect(),
            has_filters,
        })
    }

    fn describe(&self, repository: &Repository) -> Result<OpenedRepository, OpenError> {
        let name = self.head_name().map_err(|why| unreadable(&self.path, why))?;
        let detached = name.is_none();
        let checked_out = name.and_then(|name| Branch::parse(name.strip_prefix("refs/heads/")?).ok());
        let head = self.head_id().and_then(|id| CommitSha::parse(&id.to_string()).ok());
        let mut is_empty = head.is_none();
        if is_empty {
            let deadline = deadline::Deadline::after(SUGGESTIONS_LIMIT);
            repository
                .each_branch(&deadline, |_| is_empty = false)
                .map_err(|error| unreadable(&self.path, error))?;
        }
        let tip_of = |branch: &Branch| repository.tip(branch).ok().flatten();
        let headless = checked_out
            .clone()
            .filter(|branch| head.is_some() && tip_of(branch).is_none());
        let default_branch = match (checked_out, &headless) {
            (Some(branch), None) => Some(branch),
            (checked_out, _) => repository.default_branch().or(checked_out),
        };
        let tip = default_branch.as_ref().and_then(tip_of);
        Ok(OpenedRepository {
            repo: repository.id().clone(),
            path: self.path.clone(),
            git_folder: self.common_dir.clone(),
            default_branch,
            tip,
            head,
            hint: headless.as_ref().and_then(|branch| repository.hint(branch)),
            headless,
            detached,
            shallow: self.handle.is_shallow().unwrap_or(false),
            is_empty,
        })
    }
}

/// Options for opening a repository. The environment (`GIT_DIR`, `GIT_WORK_TREE`, `GIT_OBJECT_DIRECTORY`) is ignored,
/// and the user's configuration counts only for `safe.directory`. `refs/replace` is ignored too, because gix would read
/// it only once.
fn options(purpose: Purpose) -> Options {
    let env = permissions::Environment {
        home: Permission::Allow,
        xdg_config_home: Permission::Allow,
        ..permissions::Environment::isolated()
    };
    let config = permissions::Config {
        system: true,
        git: true,
        user: true,
        ..permissions::Config::isolated()
    };
    let slots = match purpose {
        Purpose::Serving => Slots::Given(PACK_SLOTS),
        Purpose::OneCommit | Purpose::WorkingCopy => Slots::default(),
    };
    Options::default()
        .permissions(Permissions {
            env,
            config,
            attributes: permissions::Attributes::isolated(),
        })
        .object_store_slots(slots)
        .bail_if_untrusted(true)
        .config_overrides(["core.useReplaceRefs=false"])
}

/// Options for the search for the repository of a folder.
fn search_options(dot_git_only: bool) -> gix::discover::upwards::Options<'static> {
    gix::discover::upwards::Options {
        dot_git_only,
        ..Default::default()
    }
}

/// The folder at `path`, absolute, without symbolic links.
fn readable_folder(path: &Path) -> Result<PathBuf, OpenError> {
    let folder = path.canonicalize().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => OpenError::Missing { path: path.to_owned() },
        _ => unreadable(path, error),
    })?;
    if !folder.is_dir() {
        return Err(OpenError::NotAFolder { path: path.to_owned() });
    }
    // Without this, a folder without permission to enter would count as one without a repository.
    std::fs::read_dir(&folder).map_err(|error| unreadable(path, error))?;
    Ok(folder)
}

/// Opens the repository of `folder`, whose root is `root`, if gix or git trusts it.
fn open_trusted(
    folder: &Path,
    root: &Path,
    purpose: Purpose,
    dot_git_only: bool,
) -> Result<gix::ThreadSafeRepository, OpenError> {
    let by_trust = Mapping {
        full: options(purpose),
        reduced: options(purpose),
    };
    let discovered = gix::ThreadSafeRepository::discover_opts(folder, search_options(dot_git_only), by_trust);
    match discovered.map_err(|error| open_error(root, &error)) {
        // gix reads less of the user's settings than git.
        Err(OpenError::Unsafe { .. }) if trusts(folder)? => {
            let trusted = options(purpose).with(gix::sec::Trust::Full).bail_if_untrusted(false);
            gix::ThreadSafeRepository::open_opts(root, trusted).map_err(|error| open_error(root, &error))
        }
        discovered => discovered,
    }
}

/// Whether git trusts the repository in `folder`, which belongs to another user.
fn trusts(folder: &Path) -> Result<bool, OpenError> {
    external_git::trusts(folder).map_err(|why| {
        let why = format!("it belongs to another user, and git does not say whether you trust it: {why}");
        unreadable(folder, why)
    })
}

/// The root of a discovered worktree, or the folder of a bare repository.
fn root_of(found: &gix::discover::repository::Path) -> PathBuf {
    use gix::discover::repository::Path as Found;
    match found {
        Found::WorkTree(folder) | Found::Repository(folder) => folder.clone(),
        Found::LinkedWorkTree { work_dir, .. } => work_dir.clone(),
    }
}
