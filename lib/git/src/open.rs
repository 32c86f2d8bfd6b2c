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
use super::open_error::{OpenError, display_path, refused, sentence};
use super::repository::Repository;
use super::upstream::Upstreams;
use super::{checkout, deadline, external_git, identity, references, special_files};

/// Most packs that a server has open at once. gix's default is a few more than there are, at least 32. A server that sees
/// many fetches between two runs of `git gc` can exceed that; an unused slot costs about 200 bytes.
const PACK_SLOTS: u16 = 2048;

/// The purpose for which a repository is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// For as long as the server runs.
    Serving,
    /// To read one commit, once.
    OneCommit,
    /// To ask which commits a working copy is at.
    Asking,
}

/// The result of opening one of the given paths, as of then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedRepository {
    pub repo: RepoId,
    /// The root of the worktree that contains the path; the repository folder where there is none (bare). Absolute.
    pub path: PathBuf,
    /// The folder that all worktrees of the repository share, absolute: mostly `.git` of the main worktree.
    pub git_folder: PathBuf,
    /// The branch that is checked out in this worktree. Where HEAD is detached, names no branch, or one without a head:
    /// the branch that `origin/HEAD` names, else `main`, else `master`, else the only branch, if it has a head.
    pub default_branch: Option<Branch>,
    /// The commit that is checked out in this worktree, full length. `None` where it has no commit yet.
    pub head: Option<CommitSha>,
    /// The head of `default_branch`. `None` where the branch has no commit yet, or no head.
    pub tip: Option<Tip>,
    /// The branch that is checked out, where it has a commit but no head: it was never pushed, or several remotes have it.
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

/// Repositories, and what each path has opened.
type OpenedPaths = (Vec<Arc<Repository>>, Vec<OpenedRepository>);

/// The repositories that contain `paths`, and what each path has opened.
pub(super) fn open(paths: &[PathBuf], purpose: Purpose, machine: Option<&str>) -> Result<OpenedPaths, OpenError> {
    let mut repositories: Vec<Arc<Repository>> = Vec::new();
    let mut opened: Vec<OpenedRepository> = Vec::new();
    for path in paths {
        let mut worktree = Worktree::named(path, purpose)?;
        let known = repositories
            .iter()
            .find(|repository| repository.common_dir() == worktree.common_dir);
        let repository = match known {
            Some(repository) => Arc::clone(repository),
            None => {
                let repository = worktree.repository(machine)?;
                // Several clones of one repository count as it; without a remote, two of the same name are two.
                let mut others = repositories.iter().filter(|other| other.id() == repository.id());
                if let Some(other) = others.find(|_| identity::is_local(repository.id())) {
                    return Err(OpenError::SameId {
                        repo: repository.id().clone(),
                        first: display_path(other.common_dir()),
                        second: display_path(repository.common_dir()),
                    });
                }
                let repository = Arc::new(match purpose {
                    Purpose::Serving => repository.anchored(),
                    Purpose::OneCommit | Purpose::Asking => repository,
                });
                repositories.push(Arc::clone(&repository));
                repository
            }
        };
        let seen = worktree.describe(&repository)?;
        if let Some(checkout) = worktree.checkout() {
            repository.add_worktree(checkout);
            if let Some(prefetch) = worktree.prefetch.take() {
                repository.expect_checkout(prefetch);
            }
        }
        if !opened.iter().any(|other| other.path == seen.path) {
            opened.push(seen);
        }
    }
    Ok((repositories, opened))
}

/// The repository with git's own folder `common_dir`, for as long as the server runs.
pub(super) fn clone(common_dir: &Path) -> Result<Repository, OpenError> {
    let worktree = Worktree::named(common_dir, Purpose::Serving)?;
    Ok(worktree.repository(None)?.anchored())
}

pub(super) fn revision(path: &Path, revision: &str) -> Result<CommitSha, OpenError> {
    let worktree = Worktree::named(path, Purpose::Serving)?;
    let refused = |why: String| OpenError::Revision {
        revision: revision.to_owned(),
        path: worktree.path.clone(),
        why,
    };
    if worktree.is_reftable {
        let named = format!("{revision}^{{commit}}");
        let output = worktree.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &named]);
        let commit = output.ok_or_else(|| refused("git finds none".to_owned()))?;
        return CommitSha::parse(&commit).map_err(|invalid| refused(invalid.to_string()));
    }
    let found = worktree.handle.rev_parse_single(revision);
    let object = found.and_then(|id| id.object()).and_then(gix::Object::peel_tags_to_end);
    let commit = object.map_err(|error| refused(sentence(&error)))?;
    if commit.kind != gix::objs::Kind::Commit {
        return Err(refused(format!("it is a {}", commit.kind)));
    }
    CommitSha::parse(&commit.id.to_string()).map_err(|invalid| refused(invalid.to_string()))
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
    /// Its index, where that is already being read.
    prefetch: Option<IndexPrefetch>,
}

impl Worktree {
    /// The worktree or bare repository that a person names by `path`: a bare one has to be the folder itself. The current
    /// folder (`.`) is the default of commands, and names none.
    pub(super) fn named(path: &Path, purpose: Purpose) -> Result<Self, OpenError> {
        special_files::refuse(path, true)?;
        let has_dot_git = gix::discover::is_git(&path.join(".git")).is_ok();
        let is_git_folder = path != Path::new(".") && !has_dot_git && gix::discover::is_git(path).is_ok();
        Self::find(path, purpose, !is_git_folder)
    }

    /// The worktree that `path` is in. Only a `.git` makes one: files of a repository may look like git's own folder.
    pub(super) fn around(path: &Path, purpose: Purpose) -> Result<Self, OpenError> {
        Self::find(path, purpose, true)
    }

    fn find(given: &Path, purpose: Purpose, dot_git_only: bool) -> Result<Self, OpenError> {
        let unreadable = |error: io::Error| OpenError::Unreadable {
            path: given.to_owned(),
            why: error.to_string(),
        };
        let folder = match given.canonicalize() {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(OpenError::Missing { path: given.to_owned() });
            }
            Err(error) => return Err(unreadable(error)),
        };
        if !folder.is_dir() {
            return Err(OpenError::NotAFolder { path: given.to_owned() });
        }
        // Without this, a folder without permission to enter would count as one without a repository.
        std::fs::read_dir(&folder).map_err(unreadable)?;

        special_files::refuse(&folder, !dot_git_only)?;

        let search = || gix::discover::upwards::Options {
            dot_git_only,
            ..Default::default()
        };
        let found = gix::discover::upwards_opts(&folder, search()).map_err(|error| refused(&folder, &error))?;
        let root = folder_of(&found.0);
        let prefetch = match purpose {
            Purpose::Serving | Purpose::Asking => None,
            Purpose::OneCommit => IndexPrefetch::start(&found.0, found.1),
        };
        let options = || Mapping {
            full: options(purpose),
            reduced: options(purpose),
        };
        let discovered = gix::ThreadSafeRepository::discover_opts(&folder, search(), options());
        let shared = match discovered.map_err(|error| refused(&root, &error)) {
            // gix reads less of the user's settings than git.
            Err(OpenError::Unsafe { .. }) if trusts(&folder)? => {
                let trusted = self::options(purpose)
                    .with(gix::sec::Trust::Full)
                    .bail_if_untrusted(false);
                gix::ThreadSafeRepository::open_opts(&root, trusted).map_err(|error| refused(&root, &error))?
            }
            discovered => discovered?,
        };
        let handle = shared.to_thread_local();
        let absolute = |path: &Path| {
            path.canonicalize().map_err(|error| OpenError::Unreadable {
                path: path.to_owned(),
                why: error.to_string(),
            })
        };
        let common_dir = absolute(handle.common_dir())?;
        let path = match handle.workdir() {
            Some(workdir) => absolute(workdir)?,
            None => absolute(handle.git_dir())?,
        };
        if dot_git_only && handle.workdir().is_some() && path != absolute(&root)? {
            return Err(OpenError::Unsupported {
                path: root,
                why: "its core.worktree names another folder; run `git config --unset core.worktree` there, or name its git folder",
            });
        }
        let storage = handle.config_snapshot().string("extensions.refStorage");
        let is_reftable = storage.is_some_and(|storage| !storage.eq_ignore_ascii_case(b"files"));
        if is_reftable && !(references::is_reftable(&common_dir) && external_git::trusts(&folder) == Ok(true)) {
            return Err(OpenError::Unsupported {
                path,
                why: "it keeps its references in the reftable format, which git 2.45 or later can read; install that, or convert the \
                      repository with `git refs migrate --ref-format=files`",
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

    /// Git's answer about this worktree, on one line.
    fn ask(&self, args: &[&str]) -> Option<String> {
        let output = external_git::ask_of(self.handle.git_dir(), args)?;
        Some(output.trim_end().to_owned()).filter(|output| !output.is_empty())
    }

    /// The full name of the branch that is checked out; `None` where HEAD names a commit.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn head_name(&self) -> Result<Option<String>, String> {
        if self.is_reftable {
            let name = self.ask(&["symbolic-ref", "--quiet", "HEAD"]);
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
        match self.is_reftable {
            true => {
                let id = self.ask(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
                gix::ObjectId::from_hex(id.as_bytes()).ok()
            }
            false => Some(self.handle.head_id().ok()?.detach()),
        }
    }

    /// The repository that the worktree belongs to. It is opened at the shared folder, so that it stays readable when the
    /// worktree is removed.
    pub(super) fn repository(&self, machine: Option<&str>) -> Result<Repository, OpenError> {
        let options = options(self.purpose)
            .open_path_as_is(true)
            // The search for the worktree has checked the owner of the repository.
            .with(gix::sec::Trust::Full)
            .bail_if_untrusted(false);
        let fresh = options.clone();
        let is_shared = self
            .handle
            .git_dir()
            .canonicalize()
            .is_ok_and(|folder| folder == self.common_dir);
        let objects = if is_shared {
            Objects::opened(&self.common_dir, options, self.handle.clone().into_sync())
        } else {
            Objects::open(&self.common_dir, options).map_err(|error| refused(&self.common_dir, &error))?
        };
        let config = self.handle.config_snapshot();
        let upstreams = Upstreams::new(
            self.common_dir.clone(),
            fresh,
            config.plumbing(),
            self.handle.object_hash(),
        );
        let remotes = identity::remotes(config.plumbing());
        let id = identity::repo_id(&remotes, &self.common_dir, machine).ok_or_else(|| OpenError::Unreadable {
            path: self.path.clone(),
            why: "the name of its folder is not a valid name of a repository".to_owned(),
        })?;
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
    fn checkout(&self) -> Option<checkout::Worktree> {
        self.handle.workdir()?;
        let config = self.handle.config_snapshot();
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let named = config.trusted_path("core.attributesFile").ok().flatten();
        let users = std::env::var_os("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(home?.join(".config")))
            .map(|folder| folder.join("git/attributes"));
        let attributes = [
            Some(self.common_dir.join("info/attributes")),
            Some(PathBuf::from("/etc/gitattributes")),
            named.or(users),
        ];
        let filters = config.plumbing().sections_by_name("filter").into_iter().flatten();
        let mut drivers = filters.flat_map(|filter| ["smudge", "process"].map(|key| filter.contains_value_name(key)));
        let has_filters = drivers.any(|is_set| is_set);
        Some(checkout::Worktree {
            root: self.path.clone(),
            git_dir: self.handle.git_dir().to_owned(),
            attributes: attributes.into_iter().flatten().collect(),
            has_filters,
        })
    }

    fn describe(&self, repository: &Repository) -> Result<OpenedRepository, OpenError> {
        let unreadable = |why: String| OpenError::Unreadable {
            path: self.path.clone(),
            why,
        };
        let name = self.head_name().map_err(unreadable)?;
        let detached = name.is_none();
        let checked_out = name.and_then(|name| Branch::parse(name.strip_prefix("refs/heads/")?).ok());
        let head = self.head_id().and_then(|id| CommitSha::parse(&id.to_string()).ok());
        let mut is_empty = head.is_none();
        if is_empty {
            let deadline = deadline::Deadline::after(SUGGESTIONS_LIMIT);
            repository
                .each_branch(&deadline, |_| is_empty = false)
                .map_err(|error| unreadable(error.to_string()))?;
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

/// Options for opening a repository. The environment (`GIT_DIR`, `GIT_WORK_TREE`, `GIT_OBJECT_DIRECTORY`) is ignored, and
/// the user's configuration counts for `safe.directory` alone. `refs/replace` is ignored as well: it would be read once and
/// then be out of date.
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
        Purpose::OneCommit | Purpose::Asking => Slots::default(),
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

/// Whether git reads the repository of another user in `folder`.
fn trusts(folder: &Path) -> Result<bool, OpenError> {
    external_git::trusts(folder).map_err(|why| OpenError::Unreadable {
        path: folder.to_owned(),
        why: format!("it belongs to another user, and git does not say whether you trust it: {why}"),
    })
}

/// The folder of a discovered repository.
fn folder_of(found: &gix::discover::repository::Path) -> PathBuf {
    use gix::discover::repository::Path as Found;
    match found {
        Found::WorkTree(folder) | Found::Repository(folder) => folder.clone(),
        Found::LinkedWorkTree { work_dir, .. } => work_dir.clone(),
    }
}
