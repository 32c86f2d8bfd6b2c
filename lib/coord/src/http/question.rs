//! What `check_status` and `post_status` have in common: who asks about which files of which branch, and how the caller's
//! working copy stands to that branch.

use axum::http::HeaderMap;

use super::ApiError;
use super::entrance::{Entrance, Right};
use crate::app::App;
use crate::auth::{Caller, Entrant};
use crate::domain::{AgentId, Branch, CommitSha, FilePath, FilePaths, Invalid, RepoId};
use crate::store::scripts::{Spelled, Survey};

/// The common part of a request, valid.
#[derive(Debug)]
pub(super) struct Question {
    pub repo: RepoId,
    pub branch: Branch,
    pub paths: FilePaths,
    pub agent_head: CommitSha,
    pub base_head: Option<CommitSha>,
    entrant: Entrant,
    agent_id: Option<AgentId>,
}

/// The common fields as sent.
pub(super) struct Fields<'a> {
    pub repo_url: &'a Option<String>,
    pub branch: &'a Option<String>,
    pub file_paths: &'a Option<Vec<String>>,
    pub agent_head: &'a Option<String>,
    pub base_head: &'a Option<String>,
    pub agent_id: &'a Option<String>,
    /// Whether `*` may stand for everything that the caller holds.
    pub takes_everything: bool,
}

/// `value`, or the error that `field` is missing.
pub(super) fn required<'a, T>(field: &'static str, value: &'a Option<T>) -> Result<&'a T, ApiError> {
    value.as_ref().ok_or(ApiError::InvalidField {
        field,
        problem: "is required".to_owned(),
    })
}

/// Names the field that a value was in.
pub(super) fn in_field(field: &'static str) -> impl Fn(Invalid) -> ApiError {
    move |invalid| ApiError::InvalidField {
        field,
        problem: invalid.0,
    }
}

fn files_of(sent: &[String], takes_everything: bool) -> Result<FilePaths, ApiError> {
    if !sent.iter().any(|path| path == FilePaths::EVERYTHING) {
        return FilePaths::parse(sent.iter().map(String::as_str)).map_err(in_field("file_paths"));
    }
    if takes_everything && sent.len() == 1 {
        return Ok(FilePaths::everything());
    }
    Err(ApiError::InvalidField {
        field: "file_paths",
        problem: "has '*', which stands for everything that you hold: send it alone, with status OPEN and \"abandon\": true; \
                  otherwise name the files (one that is called '*' is './*')"
            .to_owned(),
    })
}

/// Which agent asks: that of the field `agent_id`, or else of the header `X-Coord-Agent`.
pub(super) fn agent_of(sent: &Option<String>, headers: &HeaderMap) -> Result<Option<AgentId>, ApiError> {
    let header = headers
        .get("x-coord-agent")
        .map(|value| value.to_str().unwrap_or("\u{fffd}"));
    let agent_id = |text: Option<&str>, field| {
        let parsed = text.map(|text| AgentId::parse(text).map_err(in_field(field)));
        parsed.transpose()
    };
    let by_header = agent_id(header, "X-Coord-Agent")?;
    Ok(agent_id(sent.as_deref(), "agent_id")?.or(by_header))
}

impl Question {
    /// # Errors
    /// When a field is missing or not valid, or the caller has no right to the repository.
    pub fn parse(fields: &Fields<'_>, caller: Caller, headers: &HeaderMap) -> Result<Self, ApiError> {
        let repo = RepoId::parse(required("repo_url", fields.repo_url)?).map_err(in_field("repo_url"))?;
        let entrant = caller.enter(&repo)?;
        let branch = Branch::parse(required("branch", fields.branch)?).map_err(in_field("branch"))?;
        let paths = files_of(required("file_paths", fields.file_paths)?, fields.takes_everything)?;
        let agent_head =
            CommitSha::parse(required("agent_head", fields.agent_head)?).map_err(in_field("agent_head"))?;
        let base_head = fields
            .base_head
            .as_deref()
            .map(CommitSha::parse)
            .transpose()
            .map_err(in_field("base_head"))?;
        let agent_id = agent_of(fields.agent_id, headers)?;
        Ok(Question {
            repo,
            branch,
            paths,
            agent_head,
            base_head,
            entrant,
            agent_id,
        })
    }

    /// On its way in, with `right` to what it asks for.
    pub async fn enter<'a>(&'a self, state: &'a App, right: Right) -> Result<Entrance<'a>, ApiError> {
        let mut known_commits = vec![self.agent_head.clone()];
        known_commits.extend(self.base_head.clone());
        Entrance::open(
            state,
            &self.repo,
            &self.branch,
            self.entrant.clone(),
            self.agent_id.clone(),
            right,
            Some(known_commits),
        )
        .await
    }

    /// On its way in to give files back: the caller's commits are looked at where that matters. Work that is thrown away needs no
    /// head.
    pub async fn enter_release<'a>(
        &'a self,
        state: &'a App,
        right: Right,
        needs_head: bool,
    ) -> Result<Entrance<'a>, ApiError> {
        let (entrant, agent_id) = (self.entrant.clone(), self.agent_id.clone());
        let known_commits = needs_head.then(Vec::new);
        let entrance = Entrance::open(state, &self.repo, &self.branch, entrant, agent_id, right, known_commits).await?;
        Ok(entrance.for_release())
    }

    /// Whether the caller brings an agent id.
    pub fn has_agent_id(&self) -> bool {
        self.agent_id.is_some()
    }

    /// Why the caller is told to pull. What nobody knows for certain is not said: a caller whose commits were never pushed may
    /// have the head all the same.
    /// `branch` is what [`Entrance::branch_name`] calls it.
    pub fn behind_reason(&self, head: &CommitSha, branch: &str, is_certain: bool) -> String {
        let head = head.short();
        if is_certain {
            format!("Your working copy lacks commit {head} of {branch}")
        } else {
            format!(
                "Coord does not know your commit {}, and cannot tell whether your working copy has commit {head} of \
                 {branch}: pull, and send base_head (git merge-base HEAD {branch}), which shows that it has",
                self.agent_head.short()
            )
        }
    }

    /// Warnings that follow from how branch, working copy and graph stand to each other.
    pub fn warnings(&self, survey: &Survey, branch: &str, is_certain: bool) -> Vec<String> {
        let mut warnings = Vec::new();
        if survey.is_behind {
            warnings.push(if is_certain {
                format!("STALE_BRANCH: Your branch is behind {branch}.")
            } else {
                format!(
                    "STALE_BRANCH: {}.",
                    self.behind_reason(&survey.head.commit, branch, false)
                )
            });
        }
        warnings.extend(graph_warning(&survey.head.commit, survey.graph_version.as_deref()));
        warnings.extend(case_differs(&survey.spelled));
        warnings
    }

    /// What to say when the answer must be OFFLINE.
    pub fn offline_warning() -> String {
        "OFFLINE_MODE: Vercel is unreachable. Reading allowed, Writing disabled.".to_owned()
    }
}

/// What a missing or old graph means for the answer.
pub(super) fn graph_warning(head: &CommitSha, version: Option<&str>) -> Option<String> {
    match version {
        None => Some("GRAPH_MISSING: The import graph is not built yet, so locked neighbors are not known.".to_owned()),
        Some(version) if version != head.as_str() => {
            let short: String = version.chars().take(7).collect();
            Some(format!(
                "GRAPH_STALE: The import graph is of commit {short}, not of {}; locked neighbors may be missed.",
                head.short()
            ))
        }
        Some(_) => None,
    }
}

/// Most warnings of one answer about files that are tracked under other spellings.
const MOST_CASE_DIFFERS: usize = 16;

/// Warnings about files that differ from tracked ones in case alone: where a disk takes both for one, two agents write one file
/// under two locks.
fn case_differs(spelled: &[Spelled]) -> Vec<String> {
    let (shown, more) = spelled.split_at(spelled.len().min(MOST_CASE_DIFFERS));
    let sentence = |Spelled { file_path, tracked }: &Spelled| {
        let (tracked, verb) = (named(tracked), if tracked.len() == 1 { "is" } else { "are" });
        format!("CASE_DIFFERS: '{file_path}' is not tracked, and {tracked} {verb}; check which file you mean.")
    };
    let mut warnings: Vec<String> = shown.iter().map(sentence).collect();
    if !more.is_empty() {
        warnings.push(format!(
            "CASE_DIFFERS: {} more of these files differ from tracked ones in case alone.",
            more.len()
        ));
    }
    warnings
}

/// `paths` as in a sentence: all of a few, or some and how many more.
pub(super) fn named(paths: &[impl AsRef<str>]) -> String {
    const MOST: usize = 3;
    let shown: Vec<String> = paths
        .iter()
        .take(MOST)
        .map(|path| format!("'{}'", path.as_ref()))
        .collect();
    match paths.len().checked_sub(MOST) {
        Some(more) if more > 0 => format!("{} and {more} more", shown.join(", ")),
        _ => shown.join(", "),
    }
}

impl AsRef<str> for FilePath {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}
