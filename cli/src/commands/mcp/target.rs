//! The working copy that a call is for, by the files that it names: an agent may edit in several worktrees. Git's facts
//! are filled in unless the agent sends them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use coord_agent::next_command::{self, RepeatedRequest};
use coord_agent::options::AgentArgs;
use coord_agent::session_notes::SessionNotes;
use coord_agent::work::Work;
use coord_domain::{AgentId, FilePaths, RepoId};
use coord_git::WorkingCopy;
use coord_protocol::{CheckRequest, LockMode, LockStatus, Orchestration, PostRequest};
use coord_server::error::ApiError;

use super::claims::HolderKey;
use super::folder::path_of;
use super::proxy::Proxy;

/// The location and identity that a call names.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallOrigin<'a> {
    pub repo_url: Option<&'a str>,
    pub branch: Option<&'a str>,
    pub agent_id: Option<&'a str>,
    pub paths: &'a [String],
}

impl<'a> CallOrigin<'a> {
    /// These fields of a request.
    pub fn of(
        repo_url: &'a Option<String>,
        branch: &'a Option<String>,
        agent_id: &'a Option<String>,
        paths: &'a Option<Vec<String>>,
    ) -> CallOrigin<'a> {
        CallOrigin {
            repo_url: repo_url.as_deref(),
            branch: branch.as_deref(),
            agent_id: agent_id.as_deref(),
            paths: paths.as_deref().unwrap_or_default(),
        }
    }
}

/// The working copy, files and agent of a call.
pub struct Target {
    /// The root of the working copy, whose server gets the request.
    pub root: PathBuf,
    /// The files, as paths of the repository.
    pub paths: Vec<String>,
    pub agent_id: String,
    /// The agent and the branch that the call or the options name. A shell may know neither.
    named_agent: Option<String>,
    named_branch: Option<String>,
    /// The work in the working copy; `None` if the call is for another repository, about which git knows nothing here.
    pub work: Option<Work>,
}

impl Proxy {
    /// The target of a call from `origin`. `client` is the client's name.
    ///
    /// # Errors
    /// When the files are in no working copy or in several, or the branch or the agent is not valid.
    pub(super) fn target(&self, origin: CallOrigin<'_>, client: Option<&str>) -> Result<Target, ApiError> {
        let (paths, folder) = (without_file_uris(origin.paths), self.folder.get());
        if paths.len() > FilePaths::MAX {
            // Checked before each path is looked up on the disk.
            FilePaths::parse(paths.iter().map(String::as_str)).map_err(|invalid| in_field("file_paths", invalid.0))?;
        }
        let repo = origin.repo_url.and_then(|url| RepoId::parse(url).ok());
        let is_elsewhere =
            |working_copy: &WorkingCopy| repo.as_ref().is_some_and(|repo| *repo != self.args.repo(working_copy));
        let (working_copy, is_elsewhere) = match self.root_of(&paths).and_then(|root| open(&root)) {
            Ok(working_copy) => {
                let is_elsewhere = is_elsewhere(&working_copy);
                (working_copy, is_elsewhere)
            }
            Err(error) => match WorkingCopy::containing(&folder) {
                Ok(current) if is_elsewhere(&current) => (current, true),
                _ => return Err(error),
            },
        };
        let args = AgentArgs {
            branch: origin.branch.map(str::to_owned).or_else(|| self.args.branch.clone()),
            agent_id: origin
                .agent_id
                .map(str::to_owned)
                .or_else(|| self.args.agent_id.clone()),
            ..self.args.clone()
        };
        let agent = args
            .agent_id()
            .map_err(|error| in_field("agent_id", error.to_string()))?;
        let agent = match agent {
            Some(agent) => agent,
            None => {
                let agent = self.session_agent(&working_copy, client);
                agent.map_err(|error| ApiError::StoreUnavailable(format!("{error:#}")))?
            }
        };
        let mut target = Target {
            root: working_copy.root().to_owned(),
            paths,
            agent_id: agent.as_str().to_owned(),
            named_agent: args.agent_id.clone(),
            named_branch: args.branch.clone(),
            work: None,
        };
        if is_elsewhere {
            return Ok(target);
        }
        let branches = args.branches(&working_copy);
        let (branch, work_branch) = branches.map_err(|error| in_field("branch", format!("is not known: {error:#}")))?;
        let work = Work {
            branch,
            work_branch,
            repo: args.repo(&working_copy),
            working_copy,
            folder,
            agent_id: None,
            is_hooked: false,
        };
        let work = work.of_agent(Some(agent));
        let in_repository = |path: &String| match path == FilePaths::EVERYTHING {
            true => Ok(path.clone()),
            false => work.path(path).map(|path| path.as_str().to_owned()),
        };
        let paths = target.paths.iter().map(in_repository).collect::<Result<_, _>>();
        target.paths = paths.map_err(|sentence| in_field("file_paths", format!("cannot be used: {sentence}")))?;
        if let Some(agent) = &work.agent_id {
            let news = SessionNotes::take_news(&work.working_copy, agent);
            news.into_iter().for_each(|sentence| self.retries.note(sentence));
        }
        target.work = Some(work);
        self.note_work(target.holder(&None), &target.root);
        Ok(target)
    }

    /// The root of the one working copy that contains all of `paths`; without paths, that of the current folder.
    fn root_of(&self, paths: &[String]) -> Result<PathBuf, ApiError> {
        let folder = self.folder.get();
        let invalid = |problem: String| in_field("file_paths", problem);
        let no_repository =
            |path: &Path| invalid(format!("cannot be used: {} is in no git repository", path.display()));
        let mut roots: BTreeMap<PathBuf, &str> = BTreeMap::new();
        for path in paths.iter().filter(|path| *path != FilePaths::EVERYTHING) {
            let full_path = folder.join(path);
            let root = WorkingCopy::root_containing(&full_path).ok_or_else(|| no_repository(&full_path))?;
            roots.entry(root).or_insert(path);
        }
        let mut roots = roots.into_iter();
        match (roots.next(), roots.next()) {
            (None, _) => WorkingCopy::root_containing(&folder).ok_or_else(|| no_repository(&folder)),
            (Some((root, _)), None) => Ok(root),
            (Some((first_root, first)), Some((second_root, second))) => Err(invalid(format!(
                "are in two working copies: {first} is in {}, {second} in {}; make a call for each",
                first_root.display(),
                second_root.display()
            ))),
        }
    }
}

/// Replaces `file:` URIs by paths.
fn without_file_uris(paths: &[String]) -> Vec<String> {
    let to_path = |path: &String| match path_of(path) {
        Some(uri_path) => uri_path.to_str().unwrap_or(path).to_owned(),
        None => path.clone(),
    };
    paths.iter().map(to_path).collect()
}

impl Target {
    /// The holder of this target. If the call is for another repository, `repo_url` names it.
    pub fn holder(&self, repo_url: &Option<String>) -> HolderKey {
        let working_copy = self.work.as_ref().map(|work| &work.working_copy);
        HolderKey {
            repo_url: match &self.work {
                Some(work) => work.repo_url(),
                None => repo_url.clone().unwrap_or_default(),
            },
            agent_id: self.agent_id.clone(),
            clone: working_copy.map_or(&*self.root, WorkingCopy::shared_folder).to_owned(),
        }
    }

    /// Replaces the command of a response by one that works in the working copy.
    pub async fn adapt_command(&self, orchestration: &mut Orchestration) {
        if let Some(work) = &self.work {
            let repeated = RepeatedRequest {
                files: &self.paths,
                agent: self.named_agent.as_deref(),
                branch: self.named_branch.as_deref(),
            };
            next_command::adapt_command(work, orchestration, repeated).await;
        }
    }

    /// Fills in the missing fields of a check.
    pub fn check(&self, request: CheckRequest) -> CheckRequest {
        let defaults = self
            .work
            .as_ref()
            .map(|work| work.check(self.paths.clone(), request.intent));
        let defaults = defaults.unwrap_or_default();
        CheckRequest {
            repo_url: request.repo_url.or(defaults.repo_url),
            branch: request.branch.or(defaults.branch),
            work_branch: request.work_branch.or(defaults.work_branch),
            file_paths: request.file_paths.map(|_| self.paths.clone()),
            base_head: request
                .base_head
                .or(base_of(&request.agent_head, &defaults.agent_head, defaults.base_head)),
            agent_head: request.agent_head.or(defaults.agent_head),
            intent: request.intent,
            interface_changes: request
                .interface_changes
                .or(defaults.interface_changes.filter(|_| request.interface.is_none())),
            interface: request.interface.or(defaults.interface),
            intent_id: request.intent_id,
            agent_id: Some(self.agent_id.clone()),
            unknown_fields: request.unknown_fields,
        }
    }

    /// Fills in the missing fields of a claim or a release.
    pub fn post(&self, request: PostRequest) -> PostRequest {
        let is_release = request.status == Some(LockStatus::Open);
        let mode = match request.status {
            Some(LockStatus::Writing) => LockMode::Writing,
            _ => LockMode::Reading,
        };
        let is_pushed = is_release && request.abandon != Some(true);
        let defaults = self.work.as_ref().map(|work| match is_release {
            true => work.release(Vec::new(), String::new()),
            false => work.claim(self.paths.clone(), mode, String::new()),
        });
        let defaults = defaults.unwrap_or_default();
        PostRequest {
            repo_url: request.repo_url.or(defaults.repo_url),
            branch: request.branch.or(defaults.branch),
            work_branch: request.work_branch.or(defaults.work_branch),
            file_paths: request.file_paths.map(|_| self.paths.clone()),
            base_head: request
                .base_head
                .or(base_of(&request.agent_head, &defaults.agent_head, defaults.base_head)),
            agent_head: request.agent_head.or(defaults.agent_head),
            new_repo_head: request.new_repo_head.or(defaults.new_repo_head.filter(|_| is_pushed)),
            agent_id: Some(self.agent_id.clone()),
            status: request.status,
            message: request.message,
            interface_changes: request
                .interface_changes
                .or(defaults.interface_changes.filter(|_| request.interface.is_none())),
            interface: request.interface.or(defaults.interface),
            intent_id: request.intent_id,
            tool_call: request.tool_call,
            session: request.session,
            take_over: request.take_over.or_else(|| {
                let lead = AgentId::parse(&self.agent_id).ok()?.lead();
                let lead = lead.filter(|_| !is_release)?;
                Some(lead.as_str().to_owned())
            }),
            abandon: request.abandon,
            wait_seconds: request.wait_seconds,
            force: request.force,
            unknown_fields: request.unknown_fields,
        }
    }
}

/// `base`, which belongs to the commit that is `checked_out`, unless the agent names another commit.
fn base_of(agent_head: &Option<String>, checked_out: &Option<String>, base: Option<String>) -> Option<String> {
    base.filter(|_| agent_head.is_none() || agent_head == checked_out)
}

fn open(root: &Path) -> Result<WorkingCopy, ApiError> {
    WorkingCopy::containing(root).map_err(|error| in_field("file_paths", format!("cannot be used: {error}")))
}

fn in_field(field: &'static str, problem: String) -> ApiError {
    ApiError::InvalidField { field, problem }
}
