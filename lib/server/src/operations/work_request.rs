//! The common part of a check, a claim and a release: the caller, the files of a branch, and the standing of the working
//! copy.

use coord_protocol::{CheckRequest, InterfacePromise, LockMode, LockStatus, Orchestration, PostRequest, bounds};

use super::fields::{agent_of, files_of, id_in, in_field, require};
use super::sentences::{case_differs, graph_warning, unknown_fields, whole_files};
use crate::admission::{Admission, Right};
use crate::app::App;
use crate::error::ApiError;
use crate::extension::GatedFiles;
use coord_auth::{Caller, CallerIdentity};
use coord_domain::{AgentId, Branch, CommitSha, FilePath, FilePaths, RepoId, UserId};
use coord_state::locks::{InterfaceTerms, Survey};

/// The valid common part of a request.
#[derive(Debug)]
pub struct WorkRequest {
    pub repo: RepoId,
    pub branch: Branch,
    /// The branch that the caller commits to, where it is another one.
    pub(super) work_branch: Option<Branch>,
    pub paths: FilePaths,
    pub agent_head: CommitSha,
    base_head: Option<CommitSha>,
    caller: CallerIdentity,
    agent_id: Option<AgentId>,
    /// The intent that the work belongs to.
    pub(super) intent_id: Option<String>,
    /// Warnings about the request as it was sent.
    pub(super) notes: Vec<String>,
    /// The agent whose locks a claim takes over.
    pub(super) take_over: Option<AgentId>,
    /// The interface terms of the request.
    pub(super) interface: InterfaceTerms,
}

/// The common fields as sent.
struct Fields<'a> {
    repo_url: &'a Option<String>,
    branch: &'a Option<String>,
    work_branch: &'a Option<String>,
    file_paths: &'a Option<Vec<String>>,
    agent_head: &'a Option<String>,
    base_head: &'a Option<String>,
    agent_id: &'a Option<String>,
    intent_id: &'a Option<String>,
    unknown_fields: &'a [String],
    /// Whether `*` may stand for all files that the caller holds.
    takes_everything: bool,
}

impl WorkRequest {
    /// Its files, as a gate reads them.
    pub fn gated_files(&self) -> GatedFiles<'_> {
        GatedFiles {
            repo: &self.repo,
            branch: &self.branch,
            paths: &self.paths,
            intent_id: self.intent_id(),
        }
    }

    /// The work request of a check by `caller`. `agent` is the header `X-Coord-Agent`, if sent.
    ///
    /// # Errors
    /// When a field is missing or invalid, or the caller's credential does not count in the repository.
    pub fn of_check(sent: &CheckRequest, caller: Caller, agent: Option<&str>) -> Result<Self, ApiError> {
        let fields = Fields {
            repo_url: &sent.repo_url,
            branch: &sent.branch,
            work_branch: &sent.work_branch,
            file_paths: &sent.file_paths,
            agent_head: &sent.agent_head,
            base_head: &sent.base_head,
            agent_id: &sent.agent_id,
            intent_id: &sent.intent_id,
            unknown_fields: &sent.unknown_fields,
            takes_everything: false,
        };
        let mut request = Self::parse(&fields, caller, agent)?;
        let writes = sent.intent != Some(LockMode::Reading);
        request.interface = interface_of(sent.interface, &sent.interface_changes, &request.paths, writes)?;
        Ok(request)
    }

    /// The work request of a claim or a release.
    ///
    /// # Errors
    /// As those of [`WorkRequest::of_check`].
    pub fn of_post(sent: &PostRequest, caller: Caller, agent: Option<&str>) -> Result<Self, ApiError> {
        let fields = Fields {
            repo_url: &sent.repo_url,
            branch: &sent.branch,
            work_branch: &sent.work_branch,
            file_paths: &sent.file_paths,
            agent_head: &sent.agent_head,
            base_head: &sent.base_head,
            agent_id: &sent.agent_id,
            intent_id: &sent.intent_id,
            unknown_fields: &sent.unknown_fields,
            takes_everything: sent.abandon == Some(true) && sent.status == Some(LockStatus::Open),
        };
        let mut request = Self::parse(&fields, caller, agent)?;
        let take_over = sent.take_over.as_deref().map(AgentId::parse).transpose();
        request.take_over = take_over.map_err(in_field("take_over"))?;
        let (own, is_claim) = (request.agent_id.as_ref(), sent.status != Some(LockStatus::Open));
        let is_related = |other: &AgentId| own.is_some_and(|own| own.is_below(other) || other.is_below(own));
        if request
            .take_over
            .as_ref()
            .is_some_and(|other| !is_claim || !is_related(other))
        {
            return Err(ApiError::InvalidField {
                field: "take_over",
                problem: "goes with a claim, and names an agent above or below yours: LEAD takes over from LEAD::WRITER, and the \
                          other way round"
                    .to_owned(),
            });
        }
        let writes = sent.status == Some(LockStatus::Writing);
        request.interface = interface_of(sent.interface, &sent.interface_changes, &request.paths, writes)?;
        Ok(request)
    }

    /// The work request on the files of a task, which only the store knows.
    pub fn of_task(
        repo: RepoId,
        (branch, work_branch): (Branch, Option<Branch>),
        (agent_head, base_head): (CommitSha, Option<CommitSha>),
        (caller, agent_id): (CallerIdentity, Option<AgentId>),
        interface: Option<InterfacePromise>,
    ) -> Self {
        WorkRequest {
            repo,
            work_branch: work_branch.filter(|work_branch| *work_branch != branch),
            branch,
            paths: FilePaths::everything(),
            agent_head,
            base_head,
            caller,
            agent_id,
            intent_id: None,
            notes: Vec::new(),
            take_over: None,
            interface: InterfaceTerms {
                word: interface,
                changed: Vec::new(),
            },
        }
    }

    fn parse(fields: &Fields<'_>, caller: Caller, agent: Option<&str>) -> Result<Self, ApiError> {
        let repo = RepoId::parse(require("repo_url", fields.repo_url)?).map_err(in_field("repo_url"))?;
        let caller = caller.in_repository(&repo)?;
        let branch = Branch::parse(require("branch", fields.branch)?).map_err(in_field("branch"))?;
        let work_branch = fields.work_branch.as_deref().map(Branch::parse).transpose();
        let work_branch = work_branch.map_err(in_field("work_branch"))?;
        let (paths, symbols) = files_of(require("file_paths", fields.file_paths)?, fields.takes_everything)?;
        let agent_head = CommitSha::parse(require("agent_head", fields.agent_head)?).map_err(in_field("agent_head"))?;
        let base_head = fields.base_head.as_deref().map(CommitSha::parse).transpose();
        let base_head = base_head.map_err(in_field("base_head"))?;
        let agent_id = agent_of(fields.agent_id.as_deref(), agent)?;
        let intent_id = fields
            .intent_id
            .as_deref()
            .map(|id| id_in("intent_id", id))
            .transpose()?;
        Ok(WorkRequest {
            repo,
            work_branch: work_branch.filter(|work_branch| *work_branch != branch),
            branch,
            paths,
            agent_head,
            base_head,
            caller,
            agent_id,
            intent_id: intent_id.map(str::to_owned),
            notes: whole_files(&symbols)
                .chain(unknown_fields(fields.unknown_fields))
                .collect(),
            take_over: None,
            interface: InterfaceTerms::default(),
        })
    }

    /// Begins the admission of a check or a claim.
    pub async fn begin<'a>(&'a self, app: &'a App, right: Right) -> Result<Admission<'a>, ApiError> {
        let mut known_commits = vec![self.agent_head.clone()];
        known_commits.extend(self.base_head.clone());
        self.begin_with(app, right, Some(known_commits)).await
    }

    /// Begins the admission of a release. The caller's commits are checked later, where they matter. Abandoned work needs no
    /// head.
    pub async fn begin_release<'a>(&'a self, app: &'a App, needs_head: bool) -> Result<Admission<'a>, ApiError> {
        let admission = self.begin_with(app, Right::Push, needs_head.then(Vec::new)).await?;
        Ok(admission.for_release())
    }

    async fn begin_with<'a>(
        &'a self,
        app: &'a App,
        right: Right,
        known_commits: Option<Vec<CommitSha>>,
    ) -> Result<Admission<'a>, ApiError> {
        let (caller, agent_id) = (self.caller.clone(), self.agent_id.clone());
        let admission = Admission::begin(app, &self.repo, &self.branch, caller, agent_id, right, known_commits).await?;
        Ok(admission.on_work_branch(self.work_branch.as_ref()))
    }

    /// The intent that it cites.
    pub fn intent_id(&self) -> Option<&str> {
        self.intent_id.as_deref()
    }

    /// Whether the request names an agent.
    pub fn has_agent_id(&self) -> bool {
        self.agent_id.is_some()
    }
}

/// The interface terms of a request for `paths`.
fn interface_of(
    word: Option<InterfacePromise>,
    changed: &Option<Vec<String>>,
    paths: &[FilePath],
    writes: bool,
) -> Result<InterfaceTerms, ApiError> {
    let refuse = |field, problem: &str| ApiError::InvalidField {
        field,
        problem: problem.to_owned(),
    };
    let only_writers =
        "goes with \"status\": \"WRITING\" alone: only who writes a file can keep its interface, or change it";
    if word.is_some() && !writes {
        return Err(refuse("interface", only_writers));
    }
    if changed.is_some() && !writes {
        return Err(refuse("interface_changes", only_writers));
    }
    if changed.iter().flatten().count() > bounds::FILES {
        return Err(refuse("interface_changes", "names more files than a request may have"));
    }
    let changed = changed.iter().flatten();
    let changed = changed.map(|path| FilePath::parse(path).map_err(in_field("interface_changes")));
    let changed = changed.collect::<Result<Vec<FilePath>, ApiError>>()?;
    match changed.iter().all(|path| paths.contains(path)) {
        true => Ok(InterfaceTerms { word, changed }),
        false => Err(refuse("interface_changes", "names a file that is not in file_paths")),
    }
}

/// How a working copy stands to the head of its branch.
pub(super) struct HeadStatus {
    /// The login of the caller.
    user: UserId,
    /// The name of the branch in sentences, from [`Admission::branch_name`].
    branch: String,
    head: CommitSha,
    agent_head: CommitSha,
    base_head: Option<CommitSha>,
    /// Whether it is certain that the working copy lacks the head.
    is_certain: bool,
    /// Whether the head is read in a clone, which may lack pushed commits.
    is_of_clone: bool,
    /// The command that brings the head into a work branch: its own upstream has no commits of the branch.
    pull: Option<String>,
}

impl HeadStatus {
    pub(super) fn of(request: &WorkRequest, admission: &Admission<'_>, survey: &Survey) -> Self {
        HeadStatus {
            user: admission.holder().user_id.clone(),
            branch: admission.branch_name(),
            head: survey.head.commit.clone(),
            agent_head: request.agent_head.clone(),
            base_head: request.base_head.clone(),
            is_of_clone: admission.head_is_from_clone(),
            is_certain: survey.is_known_behind || admission.is_known_behind(),
            pull: request
                .work_branch
                .as_ref()
                .and_then(|_| pull_into_work_branch(&admission.branch_name(), &request.branch)),
        }
    }

    /// The login of the caller.
    pub(super) fn user(&self) -> &UserId {
        &self.user
    }

    /// The reason of a PULL. It states only certain facts: a working copy whose commits were never pushed may still have
    /// the head.
    pub(super) fn behind_reason(&self) -> String {
        let (head, branch, own) = (self.head.short(), &self.branch, self.agent_head.short());
        if self.is_certain {
            return format!("Your working copy lacks commit {head} of {branch}");
        }
        let cannot_tell =
            format!("so it is unknown whether your working copy contains commit {head} of {branch}: pull");
        match &self.base_head {
            None => format!(
                "Coord does not know your commit {own}, {cannot_tell}, and send base_head (git merge-base HEAD {branch})"
            ),
            Some(base) => {
                let base = base.short();
                let why = format!("Coord knows neither your commit {own} nor your base_head {base}, {cannot_tell}");
                if self.is_of_clone {
                    format!("{why} ({CLONE_MAY_LAG})")
                } else {
                    why
                }
            }
        }
    }

    /// `orchestration`, which says PULL, with the command that brings the head in.
    pub(super) fn with_pull(&self, orchestration: Orchestration) -> Orchestration {
        match &self.pull {
            Some(command) => orchestration.by(command.clone()),
            None => orchestration,
        }
    }

    /// Warnings about the working copy and the graph, compared with the head.
    pub(super) fn warnings(&self, survey: &Survey) -> Vec<String> {
        self.warnings_with(survey, "")
    }

    /// The same; `way_out` is the fix for a working copy that is behind.
    pub(super) fn warnings_with(&self, survey: &Survey, way_out: &str) -> Vec<String> {
        let mut warnings = Vec::new();
        if survey.is_behind {
            warnings.push(if self.is_certain {
                format!("STALE_BRANCH: Your branch is behind {}.{way_out}", self.branch)
            } else {
                format!("STALE_BRANCH: {}.{way_out}", self.behind_reason())
            });
        }
        warnings.extend(graph_warning(&survey.head.commit, survey.graph_version.as_deref()));
        warnings.extend(case_differs(&survey.spelled));
        warnings
    }
}

/// Added if the served clone may lack pushed commits.
pub(super) const CLONE_MAY_LAG: &str = "Coord reads the branch in the clone that it serves: if you have pushed, run git fetch there, or serve it \
                                     with coord serve --fetch 30";

/// How `branch`, here `REMOTE/BRANCH`, is pulled by name. None where a name could mean something to a shell, or it has no remote.
fn pull_into_work_branch(here: &str, branch: &Branch) -> Option<String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._/-".contains(letter);
    let remote = here.strip_suffix(branch.as_str())?.strip_suffix('/')?;
    let is_safe = here.chars().all(is_plain) && !remote.starts_with('-') && !branch.as_str().starts_with('-');
    is_safe.then(|| format!("git pull --rebase {remote} {branch}"))
}

/// The warning of every OFFLINE response: it names the service that does not answer.
pub(super) fn offline_warning(error: &ApiError) -> String {
    let name = match error {
        ApiError::NoServer { name, .. } => name,
        ApiError::StoreUnavailable(_) => "The store",
        ApiError::SourceUnavailable(_) | ApiError::SourceLimited { .. } => "The repository",
        ApiError::IdentityUnavailable(_) => "The service that verifies callers",
        _ => "Coord",
    };
    format!("OFFLINE_MODE: {name} is unreachable. Reading allowed, Writing disabled.")
}
