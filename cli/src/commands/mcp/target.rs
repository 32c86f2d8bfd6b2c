//! The working copy that a call is for, by the files that it names: an agent edits in several worktrees. Git facts are filled in
//! unless the agent sends them.

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

use super::folder::path_of;
use super::holder_key::HolderKey;
use super::proxy::Proxy;

/// The location and identity that an agent sends.
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

/// Where a call is for.
pub struct Target {
    /// The root of the working copy, whose server is asked.
    pub root: PathBuf,
    /// The files, as paths of the repository.
    pub paths: Vec<String>,
    pub agent_id: String,
    /// The agent and the branch that the call or the options name: a shell may have neither.
    named_agent: Option<String>,
    named_branch: Option<String>,
    /// The work in the working copy. `None` where the call is for another repository, of which git knows nothing here.
    pub work: Option<Work>,
}

impl Proxy {
    /// Where a call with `sent` is for. `client` is the client's name.
    ///
    /// # Errors
    /// When the files are in no working copy or in several, or the branch or the agent is not valid.
    pub(super) fn target(&self, sent: CallOrigin<'_>, client: Option<&str>) -> Result<Target, ApiError> {
        let (paths, folder) = (as_paths(sent.paths), self.folder.get());
        let sent = CallOrigin { paths: &paths, ..sent };
        if sent.paths.len() > FilePaths::MAX {
            // Each would be looked for on the disk.
            FilePaths::parse(sent.paths.iter().map(String::as_str))
                .map_err(|invalid| in_field("file_paths", invalid.0))?;
        }
        let repo = sent.repo_url.and_then(|url| RepoId::parse(url).ok());
        let is_elsewhere =
            |working_copy: &WorkingCopy| repo.as_ref().is_some_and(|repo| *repo != self.args.repo(working_copy));
        let (working_copy, is_elsewhere) = match self.root_of(sent.paths).and_then(|root| open(&root)) {
            Ok(working_copy) => {
                let is_elsewhere = is_elsewhere(&working_copy);
                (working_copy, is_elsewhere)
            }
            Err(error) => match WorkingCopy::containing(&folder) {
                Ok(here) if is_elsewhere(&here) => (here, true),
                _ => return Err(error),
            },
        };
        let args = AgentArgs {
            branch: sent.branch.map(str::to_owned).or_else(|| self.args.branch.clone()),
            agent_id: sent.agent_id.map(str::to_owned).or_else(|| self.args.agent_id.clone()),
            ..self.args.clone()
        };
        let agent = args
            .agent_id()
            .map_err(|error| in_field("agent_id", error.to_string()))?;
        let agent = match agent {
            Some(agent) => agent,
            None => {
                let made = self.session_agent(&working_copy, client);
                made.map_err(|error| ApiError::StoreUnavailable(format!("{error:#}")))?
            }
        };
        let agent_id = agent.as_str().to_owned();
        let root = working_copy.root().to_owned();
        if is_elsewhere {
            return Ok(Target {
                root,
                paths: sent.paths.to_vec(),
                agent_id,
                named_agent: args.agent_id,
                named_branch: args.branch,
                work: None,
            });
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
        let is_everything = |path: &String| path == FilePaths::EVERYTHING;
        let in_repository = |path: &String| match is_everything(path) {
            true => Ok(path.clone()),
            false => work.path(path).map(|path| path.as_str().to_owned()),
        };
        let paths = sent.paths.iter().map(in_repository).collect::<Result<Vec<_>, _>>();
        let paths = paths.map_err(|sentence| in_field("file_paths", format!("cannot be used: {sentence}")))?;
        let holder = HolderKey {
            repo_url: work.repo_url(),
            agent_id: agent_id.clone(),
            clone: work.working_copy.shared_folder().to_owned(),
        };
        self.note_work(holder, &root);
        if let Some(agent) = &work.agent_id {
            let news = SessionNotes::take_news(&work.working_copy, agent);
            news.into_iter().for_each(|sentence| self.retries.note(sentence));
        }
        Ok(Target {
            root,
            paths,
            agent_id,
            named_agent: args.agent_id,
            named_branch: args.branch,
            work: Some(work),
        })
    }

    /// The root of the one working copy that all of `paths` are in; without any, that of the current folder.
    fn root_of(&self, paths: &[String]) -> Result<PathBuf, ApiError> {
        let folder = self.folder.get();
        let wrong = |sentence: String| in_field("file_paths", sentence);
        let nowhere = |place: &Path| wrong(format!("cannot be used: {} is in no git repository", place.display()));
        let mut roots: BTreeMap<PathBuf, &str> = BTreeMap::new();
        for path in paths.iter().filter(|path| *path != FilePaths::EVERYTHING) {
            let place = folder.join(path);
            let root = WorkingCopy::root_containing(&place).ok_or_else(|| nowhere(&place))?;
            roots.entry(root).or_insert(path);
        }
        let mut roots = roots.into_iter();
        match (roots.next(), roots.next()) {
            (None, _) => WorkingCopy::root_containing(&folder).ok_or_else(|| nowhere(&folder)),
            (Some((root, _)), None) => Ok(root),
            (Some((one, first)), Some((other, second))) => Err(wrong(format!(
                "are in two working copies: {first} is in {}, {second} in {}; make a call for each",
                one.display(),
                other.display()
            ))),
        }
    }
}

/// `sent` with paths in the place of `file:` URIs.
fn as_paths(sent: &[String]) -> Vec<String> {
    let as_path = |sent: &String| match path_of(sent) {
        Some(path) => path.to_str().unwrap_or(sent).to_owned(),
        None => sent.clone(),
    };
    sent.iter().map(as_path).collect()
}

impl Target {
    /// The holder that asks, about the repository of a request.
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

    /// Gives a response the command that works in the working copy.
    pub async fn adapt_command(&self, orchestration: &mut Orchestration) {
        if let Some(work) = &self.work {
            let about = RepeatedRequest {
                files: &self.paths,
                agent: self.named_agent.as_deref(),
                branch: self.named_branch.as_deref(),
            };
            next_command::adapt_command(work, orchestration, about).await;
        }
    }

    /// The check `sent`, with missing fields filled in.
    pub fn check(&self, sent: CheckRequest) -> CheckRequest {
        let known = self
            .work
            .as_ref()
            .map(|work| work.check(self.paths.clone(), sent.intent));
        let known = known.unwrap_or_default();
        CheckRequest {
            repo_url: sent.repo_url.or(known.repo_url),
            branch: sent.branch.or(known.branch),
            work_branch: sent.work_branch.or(known.work_branch),
            file_paths: sent.file_paths.map(|_| self.paths.clone()),
            base_head: sent
                .base_head
                .or(base_of(&sent.agent_head, &known.agent_head, known.base_head)),
            agent_head: sent.agent_head.or(known.agent_head),
            intent: sent.intent,
            interface_changes: sent
                .interface_changes
                .or(known.interface_changes.filter(|_| sent.interface.is_none())),
            interface: sent.interface.or(known.interface),
            intent_id: sent.intent_id,
            agent_id: Some(self.agent_id.clone()),
            unknown_fields: sent.unknown_fields,
        }
    }

    /// The claim or release `sent`, with missing fields filled in.
    pub fn post(&self, sent: PostRequest) -> PostRequest {
        let is_open = sent.status == Some(LockStatus::Open);
        let mode = match sent.status {
            Some(LockStatus::Writing) => LockMode::Writing,
            _ => LockMode::Reading,
        };
        let is_pushed = is_open && sent.abandon != Some(true);
        let known = self.work.as_ref().map(|work| match is_open {
            true => work.release(Vec::new(), String::new()),
            false => work.claim(self.paths.clone(), mode, String::new()),
        });
        let known = known.unwrap_or_default();
        PostRequest {
            repo_url: sent.repo_url.or(known.repo_url),
            branch: sent.branch.or(known.branch),
            work_branch: sent.work_branch.or(known.work_branch),
            file_paths: sent.file_paths.map(|_| self.paths.clone()),
            base_head: sent
                .base_head
                .or(base_of(&sent.agent_head, &known.agent_head, known.base_head)),
            agent_head: sent.agent_head.or(known.agent_head),
            new_repo_head: sent.new_repo_head.or(known.new_repo_head.filter(|_| is_pushed)),
            agent_id: Some(self.agent_id.clone()),
            status: sent.status,
            message: sent.message,
            interface_changes: sent
                .interface_changes
                .or(known.interface_changes.filter(|_| sent.interface.is_none())),
            interface: sent.interface.or(known.interface),
            intent_id: sent.intent_id,
            tool_call: sent.tool_call,
            session: sent.session,
            take_over: sent.take_over.or_else(|| {
                let lead = AgentId::parse(&self.agent_id).ok()?.lead();
                let lead = lead.filter(|_| sent.status != Some(LockStatus::Open))?;
                Some(lead.as_str().to_owned())
            }),
            abandon: sent.abandon,
            wait_seconds: sent.wait_seconds,
            force: sent.force,
            unknown_fields: sent.unknown_fields,
        }
    }
}

/// The base of the commit that is checked out, unless the agent sends another commit as its own.
fn base_of(sent: &Option<String>, known: &Option<String>, base: Option<String>) -> Option<String> {
    base.filter(|_| sent.is_none() || sent == known)
}

fn open(root: &Path) -> Result<WorkingCopy, ApiError> {
    WorkingCopy::containing(root).map_err(|error| in_field("file_paths", format!("cannot be used: {error}")))
}

fn in_field(field: &'static str, problem: String) -> ApiError {
    ApiError::InvalidField { field, problem }
}
