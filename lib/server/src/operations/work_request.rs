//! The common part of a check, a claim and a release: the caller, the files of a branch, and the state of the working
//! copy.

use coord_protocol::{CheckRequest, InterfacePromise, LockMode, LockStatus, Orchestration, PostRequest, bounds};

use super::fields::{
    agent_of, id_in, in_field, parse_files, parse_optional, parse_repository, parse_required, require,
};
use super::sentences::{case_warnings, graph_warning, unknown_fields, whole_file_warnings};
use crate::admission::{Admission, Right};
use crate::app::App;
use crate::error::ApiError;
use crate::extension::GatedFiles;
use coord_auth::{Caller, CallerIdentity};
use coord_domain::{AgentId, Branch, CommitSha, FilePath, FilePaths, RepoId, UserId};
use coord_state::locks::{InterfaceTerms, Survey};

/// The common part of a check, a claim and a release, parsed.
#[derive(Debug)]
pub struct WorkRequest {
    pub repo: RepoId,
    pub branch: Branch,
    /// The branch that the caller commits to, if it differs.
    pub(super) work_branch: Option<Branch>,
    pub paths: FilePaths,
    pub agent_head: CommitSha,
    base_head: Option<CommitSha>,
    caller: CallerIdentity,
    agent_id: Option<AgentId>,
    /// The intent that the work belongs to.
    pub(super) intent_id: Option<String>,
    /// Warnings about fields of the request.
    pub(super) notes: Vec<String>,
    /// The agent whose locks a claim takes over.
    pub(super) take_over: Option<AgentId>,
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
    pub fn gated_files(&self) -> GatedFiles<'_> {
        GatedFiles {
            repo: &self.repo,
            branch: &self.branch,
            paths: &self.paths,
            intent_id: self.intent_id(),
        }
    }

    /// Parses a check by `caller`. `agent` is the header `X-Coord-Agent`, if sent.
    ///
    /// # Errors
    /// When a field is missing or invalid, or the caller's credential is not valid for the repository.
    pub fn of_check(body: &CheckRequest, caller: Caller, agent: Option<&str>) -> Result<Self, ApiError> {
        let fields = Fields {
            repo_url: &body.repo_url,
            branch: &body.branch,
            work_branch: &body.work_branch,
            file_paths: &body.file_paths,
            agent_head: &body.agent_head,
            base_head: &body.base_head,
            agent_id: &body.agent_id,
            intent_id: &body.intent_id,
            unknown_fields: &body.unknown_fields,
            takes_everything: false,
        };
        let mut request = Self::parse(&fields, caller, agent)?;
        let writes = body.intent != Some(LockMode::Reading);
        request.interface = parse_interface_terms(body.interface, &body.interface_changes, &request.paths, writes)?;
        Ok(request)
    }

    /// Parses a claim or a release.
    ///
    /// # Errors
    /// As [`WorkRequest::of_check`].
    pub fn of_post(body: &PostRequest, caller: Caller, agent: Option<&str>) -> Result<Self, ApiError> {
        let fields = Fields {
            repo_url: &body.repo_url,
            branch: &body.branch,
            work_branch: &body.work_branch,
            file_paths: &body.file_paths,
            agent_head: &body.agent_head,
            base_head: &body.base_head,
            agent_id: &body.agent_id,
            intent_id: &body.intent_id,
            unknown_fields: &body.unknown_fields,
            takes_everything: body.abandon == Some(true) && body.status == Some(LockStatus::Open),
        };
        let mut request = Self::parse(&fields, caller, agent)?;
        request.take_over = parse_optional("take_over", body.take_over.as_deref(), AgentId::parse)?;
        let (own, is_claim) = (request.agent_id.as_ref(), body.status != Some(LockStatus::Open));
        let is_related = |other: &AgentId| own.is_some_and(|own| own.is_below(other) || other.is_below(own));
        if let Some(other) = &request.take_over
            && !(is_claim && is_related(other))
        {
            return Err(ApiError::invalid_field(
                "take_over",
                "goes with a claim, and names an agent above or below yours: LEAD takes over from LEAD::WRITER, or \
                 the reverse",
            ));
        }
        let writes = body.status == Some(LockStatus::Writing);
        request.interface = parse_interface_terms(body.interface, &body.interface_changes, &request.paths, writes)?;
        Ok(request)
    }

    /// A request about the files of a task, which only the store knows.
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
                promise: interface,
                changed: Vec::new(),
            },
        }
    }

    fn parse(fields: &Fields<'_>, caller: Caller, agent: Option<&str>) -> Result<Self, ApiError> {
        let (repo, caller) = parse_repository(fields.repo_url, caller)?;
        let branch = parse_required("branch", fields.branch, Branch::parse)?;
        let work_branch = parse_optional("work_branch", fields.work_branch.as_deref(), Branch::parse)?;
        let (paths, symbols) = parse_files(require("file_paths", fields.file_paths)?, fields.takes_everything)?;
        let agent_head = parse_required("agent_head", fields.agent_head, CommitSha::parse)?;
        let base_head = parse_optional("base_head", fields.base_head.as_deref(), CommitSha::parse)?;
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
            notes: whole_file_warnings(&symbols)
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

    /// Begins the admission of a release. The caller's commits are checked later, if they matter. Abandoned work needs
    /// no head.
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

    /// The intent that the request cites.
    pub fn intent_id(&self) -> Option<&str> {
        self.intent_id.as_deref()
    }

    /// Whether the request names an agent.
    pub fn has_agent_id(&self) -> bool {
        self.agent_id.is_some()
    }
}

/// Parses the interface terms of a request for `paths`.
fn parse_interface_terms(
    promise: Option<InterfacePromise>,
    changed: &Option<Vec<String>>,
    paths: &[FilePath],
    writes: bool,
) -> Result<InterfaceTerms, ApiError> {
    const CHANGES: &str = "interface_changes";
    let only_writers =
        "goes only with \"status\": \"WRITING\": only the writer of a file can keep or change its interface";
    if promise.is_some() && !writes {
        return Err(ApiError::invalid_field("interface", only_writers));
    }
    if changed.is_some() && !writes {
        return Err(ApiError::invalid_field(CHANGES, only_writers));
    }
    let changed = changed.as_deref().unwrap_or_default();
    if changed.len() > bounds::FILES {
        return Err(ApiError::invalid_field(
            CHANGES,
            "names more files than a request may have",
        ));
    }
    let changed = changed.iter().map(|path| FilePath::parse(path));
    let changed: Vec<FilePath> = changed.collect::<Result<_, _>>().map_err(in_field(CHANGES))?;
    match changed.iter().all(|path| paths.contains(path)) {
        true => Ok(InterfaceTerms { promise, changed }),
        false => Err(ApiError::invalid_field(
            CHANGES,
            "names a file that is not in file_paths",
        )),
    }
}

/// How a working copy relates to the head of its branch.
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
    /// Whether the head comes from a clone, which may lack pushed commits.
    is_from_clone: bool,
    /// The command that brings the head into a work branch, whose upstream does not have the branch's commits.
    pull: Option<String>,
}

impl HeadStatus {
    pub(super) fn new(request: &WorkRequest, admission: &Admission<'_>, survey: &Survey) -> Self {
        HeadStatus {
            user: admission.holder().user_id.clone(),
            branch: admission.branch_name(),
            head: survey.head.commit.clone(),
            agent_head: request.agent_head.clone(),
            base_head: request.base_head.clone(),
            is_from_clone: admission.head_is_from_clone(),
            is_certain: survey.is_known_behind || admission.is_known_behind(),
            pull: request
                .work_branch
                .as_ref()
                .and_then(|_| pull_command(&admission.branch_name(), &request.branch)),
        }
    }

    /// The login of the caller.
    pub(super) fn user(&self) -> &UserId {
        &self.user
    }

    /// The reason for a PULL. It states only certain facts: a working copy whose commits were never pushed may still
    /// have the head.
    pub(super) fn behind_reason(&self) -> String {
        let (head, branch, own) = (self.head.short(), &self.branch, self.agent_head.short());
        if self.is_certain {
            return format!("Your working copy lacks commit {head} of {branch}");
        }
        let consequence =
            format!("so it is unknown whether your working copy contains commit {head} of {branch}: pull");
        match &self.base_head {
            None => format!(
                "Coord does not know your commit {own}, {consequence}, and send base_head (git merge-base HEAD \
                 {branch})"
            ),
            Some(base) => {
                let base = base.short();
                let reason = format!("Coord knows neither your commit {own} nor your base_head {base}, {consequence}");
                if self.is_from_clone {
                    format!("{reason} ({CLONE_MAY_LAG})")
                } else {
                    reason
                }
            }
        }
    }

    /// `orchestration`, which is a PULL, with the command that brings the head into the working copy.
    pub(super) fn with_pull(&self, orchestration: Orchestration) -> Orchestration {
        match &self.pull {
            Some(command) => orchestration.with_command(command.clone()),
            None => orchestration,
        }
    }

    /// Warnings about the working copy and the graph, compared with the head.
    pub(super) fn warnings(&self, survey: &Survey) -> Vec<String> {
        self.warnings_with(survey, "")
    }

    /// As [`Self::warnings`]; `fix` is the sentence about how to fix a working copy that is behind.
    pub(super) fn warnings_with(&self, survey: &Survey, fix: &str) -> Vec<String> {
        let mut warnings = Vec::new();
        if survey.is_behind {
            warnings.push(if self.is_certain {
                format!("STALE_BRANCH: Your branch is behind {}.{fix}", self.branch)
            } else {
                format!("STALE_BRANCH: {}.{fix}", self.behind_reason())
            });
        }
        warnings.extend(graph_warning(&survey.head.commit, survey.graph_version.as_deref()));
        warnings.extend(case_warnings(&survey.spelled));
        warnings
    }
}

/// Added to a reason if the served clone may lack pushed commits.
pub(super) const CLONE_MAY_LAG: &str = "Coord reads the branch in the clone that it serves: if you have pushed, run \
                                        git fetch there, or serve it with coord serve --fetch 30";

/// The command that pulls `branch`, whose remote-tracking branch is `name`: `REMOTE/BRANCH`. `None` if a name could
/// mean something to a shell, or there is no remote.
fn pull_command(name: &str, branch: &Branch) -> Option<String> {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "._/-".contains(character);
    let remote = name.strip_suffix(branch.as_str())?.strip_suffix('/')?;
    let is_safe = name.chars().all(is_plain) && !remote.starts_with('-') && !branch.as_str().starts_with('-');
    is_safe.then(|| format!("git pull --rebase {remote} {branch}"))
}

/// The warning of every OFFLINE response, which names the service that does not respond.
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
