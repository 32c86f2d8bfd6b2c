//! The working copy and its server, for commands that people and scripts run: the holder, and the handling of
//! responses.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use coord_domain::AgentId;
use coord_mcp::Outcome;
use coord_protocol::team_tools::TeamCallResponse;
use coord_protocol::{Action, AgentError, CheckRequest, ClientError, IntentResponse, Orchestration, PostRequest};
use coord_server::error::ApiError;
use coord_server::operations::Refusal;
use coord_settings::env_vars;

use super::connection::{Connection, no_server};
use super::exit_status::{ExitStatus, FailedRequest};
use super::local_server;
use super::mail_notes::MailNotes;
use super::next_command::{RepeatedRequest, adapt_command};
use super::options::AgentArgs;
use super::outcome::show;
use super::rivals::{self, Rival};
use super::session::Session;
use super::work::Work;
use crate::terminal::spinner::Spinner;

/// Time limit of a request: a server answers within 25 seconds.
const LIMIT: Duration = Duration::from_secs(30);

/// Why a request or a sync with the server failed.
#[derive(Debug)]
pub enum Failure {
    NoAnswer(ClientError),
    /// Anything else.
    Error(anyhow::Error),
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Failure::NoAnswer(error)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Failure::Error(error)
    }
}

/// A working copy and its server.
pub struct Workplace {
    /// The working copy, and the holder of its locks: the named agent, or the agent of the session in which the command
    /// runs, or else the person.
    pub work: Work,
    pub connection: Connection,
    args: AgentArgs,
}

impl Workplace {
    /// Opens the working copy of the current folder.
    ///
    /// # Errors
    /// When the folder is in no working copy, an option is not valid, or the local server does not start.
    pub fn open(args: &AgentArgs) -> anyhow::Result<Workplace> {
        Workplace::connect(work(args)?, args)
    }

    /// Opens the working copy of the current folder for the person, even in a session of an agent.
    ///
    /// # Errors
    /// As [`Workplace::open`].
    pub fn for_person(args: &AgentArgs) -> anyhow::Result<Workplace> {
        let mut work = Work::in_folder(".".as_ref(), args)?;
        work.agent_id = None;
        Workplace::connect(work, args)
    }

    fn connect(work: Work, args: &AgentArgs) -> anyhow::Result<Workplace> {
        let _spinner = Spinner::start("starting coord serve");
        let connection = Connection::open(args, &work.working_copy, work.agent_id.as_ref(), LIMIT)?;
        Ok(Workplace {
            work,
            connection,
            args: args.clone(),
        })
    }

    /// Connects to the current server of the clone. If the server was restarted, it may have another address, and the
    /// server of another clone may have the old one.
    ///
    /// # Errors
    /// A sentence, when no server runs.
    pub fn follow_server(&mut self) -> Result<(), String> {
        let working_copy = &self.work.working_copy;
        if !self.connection.is_local {
            return Ok(());
        }
        match local_server::read_announcement(working_copy) {
            None => Err("the coord serve of this clone has ended; the next command starts it anew".to_owned()),
            Some(announced) if announced.instance == self.connection.server => Ok(()),
            Some(_) => {
                let agent_id = self.work.agent_id.as_ref();
                let connection = Connection::open(&self.args, working_copy, agent_id, LIMIT);
                self.connection = connection.map_err(|error| format!("{error:#}"))?;
                self.work.repo = self.args.repo(working_copy);
                Ok(())
            }
        }
    }

    /// The parts of a request about `files` that a command has to repeat: the options, but not the environment, which
    /// the command has too.
    fn repeated_request<'a>(&'a self, files: &'a Option<Vec<String>>) -> RepeatedRequest<'a> {
        let by_option = |value: &'a Option<String>, variable: &str| {
            let value = value.as_deref()?;
            std::env::var(variable)
                .map_or(true, |variable| variable != value)
                .then_some(value)
        };
        RepeatedRequest {
            files: files.as_deref().unwrap_or_default(),
            agent: by_option(&self.args.agent_id, env_vars::COORD_AGENT),
            branch: by_option(&self.args.branch, env_vars::COORD_BRANCH),
        }
    }

    /// Sends `request`, with a spinner until its response is here.
    ///
    /// # Errors
    /// When the request fails, as [`Workplace::command_error`].
    pub async fn ask<T, E: Into<Failure>>(&self, request: impl Future<Output = Result<T, E>>) -> anyhow::Result<T> {
        let _spinner = self.start_spinner();
        request.await.map_err(|error| self.command_error(error))
    }

    /// Sends a request about an intent, prints the response, and returns the exit status.
    ///
    /// # Errors
    /// When there is no response, or it cannot be printed.
    pub async fn print_intent(
        &self,
        request: impl Future<Output = Result<IntentResponse, ClientError>>,
        is_json: bool,
    ) -> anyhow::Result<ExitCode> {
        let response = self.ask(request).await?;
        show(&Outcome::Intent(Box::new(response)), is_json, "")
    }

    /// Sends a check.
    ///
    /// # Errors
    /// When the response is not Coord's.
    pub async fn check(&self, request: &CheckRequest) -> anyhow::Result<Outcome> {
        let _spinner = self.start_spinner();
        match self.connection.client.check_status(request).await {
            Ok(mut response) => {
                let repeated = self.repeated_request(&request.file_paths);
                adapt_command(&self.work, &mut response.orchestration, repeated).await;
                Ok(Outcome::Check(response))
            }
            Err(error) => self.outcome_of(error, |offline| Refusal::of_check(offline, None)),
        }
    }

    /// Sends a claim or a release.
    ///
    /// # Errors
    /// When the response is not Coord's.
    pub async fn post(&self, request: &PostRequest) -> anyhow::Result<Outcome> {
        let _spinner = self.start_spinner();
        match self.connection.client.post_status(request).await {
            Ok(mut response) => {
                let repeated = self.repeated_request(&request.file_paths);
                adapt_command(&self.work, &mut response.orchestration, repeated).await;
                Ok(Outcome::Post(response))
            }
            Err(error) => self.refused_post(error),
        }
    }

    /// The outcome of a request about a team.
    ///
    /// # Errors
    /// When the response is not Coord's.
    pub fn team_outcome(&self, result: Result<TeamCallResponse, ClientError>) -> anyhow::Result<Outcome> {
        match result {
            Ok(answer) => Ok(Outcome::Team(Box::new(answer))),
            Err(error) => self.outcome_of(error, |offline| Refusal::Agent(offline.for_agent())),
        }
    }

    /// Notes for the session's hooks that an answer about teams was printed.
    pub fn note_answer_shown(&self, outcome: &Outcome) {
        if let (Outcome::Team(answer), Some(agent)) = (outcome, &self.work.agent_id) {
            MailNotes::note_answer(&self.work.working_copy, agent, answer, true);
        }
    }

    /// The outcome of a claim or a release that the server refused, or of a request that it depends on.
    ///
    /// # Errors
    /// When the response is not Coord's.
    pub fn refused_post(&self, error: ClientError) -> anyhow::Result<Outcome> {
        self.outcome_of(error, Refusal::of_post)
    }

    /// An error as an agent gets it. A server that does not answer counts as one without a store: nothing is known.
    fn outcome_of(&self, error: ClientError, offline: impl Fn(&ApiError) -> Refusal) -> anyhow::Result<Outcome> {
        let is_no_answer = match &error {
            ClientError::Unreachable(_) | ClientError::OtherServer => true,
            ClientError::Malformed { status, .. } => *status >= 500,
            ClientError::Refused { .. } | ClientError::Invalid(_) => false,
        };
        if is_no_answer {
            return Ok(offline(&no_server(Some(&self.connection.address), self.describe_error(&error))).into());
        }
        let ClientError::Refused {
            status,
            error,
            orchestration,
            waiting,
            ..
        } = error
        else {
            return Err(error.into());
        };
        let orchestration = orchestration.map_or_else(
            || Orchestration::new(Action::Stop, error.message.clone()),
            |orchestration| *orchestration,
        );
        let refused = AgentError {
            error: *error,
            orchestration,
            waiting: *waiting,
        };
        Ok(match status {
            400 => Outcome::Malformed(refused),
            _ => Outcome::Refused(refused),
        })
    }

    /// The error of a command whose request failed: a sentence, with the exit status for [`ExitStatus::of_error`].
    pub fn command_error(&self, failure: impl Into<Failure>) -> anyhow::Error {
        let error = match failure.into() {
            Failure::NoAnswer(error) => error,
            Failure::Error(error) => return error,
        };
        let sentence = self.describe_error(&error);
        match self.refused_post(error) {
            Ok(outcome) => {
                let status = ExitStatus::of(&outcome);
                FailedRequest { sentence, status }.into()
            }
            Err(error) => error,
        }
    }

    /// `error` as a sentence. Of several causes, it names the root cause, which the user can fix.
    pub fn describe_error(&self, error: &ClientError) -> String {
        let ClientError::Unreachable(unreachable) = error else {
            return error.to_string();
        };
        let mut cause: &dyn std::error::Error = unreachable;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        format!("{} does not answer: {cause}", self.connection.address)
    }

    /// Other clones of the repository whose servers have separate stores.
    pub fn rivals(&self) -> Vec<Rival> {
        let copy = &self.work.working_copy;
        match local_server::read_announcement(copy).filter(|_| self.connection.is_local && copy.has_remote()) {
            Some(announced) => rivals::of(&self.work.repo, copy.shared_folder(), announced.socket()),
            None => Vec::new(),
        }
    }

    /// A spinner to show while a command waits for the server.
    pub fn start_spinner(&self) -> Spinner {
        Spinner::start(&format!("waiting for {}", self.connection.address))
    }

    pub fn agent_id(&self) -> Option<&str> {
        self.work.agent_id.as_ref().map(AgentId::as_str)
    }
}

/// The work in the current folder, of the holder that the command acts for.
///
/// # Errors
/// When the folder is in no working copy, or an option is not valid.
pub fn work(args: &AgentArgs) -> anyhow::Result<Work> {
    let work = Work::in_folder(".".as_ref(), args)?;
    let mut agent_id = work.agent_id.clone();
    if agent_id.is_none() {
        let session = Session::existing(&work.working_copy);
        if let Some(note) = session.as_ref().and_then(Session::note) {
            // The reader may have closed standard error.
            let _ = writeln!(std::io::stderr(), "coord: {note}");
        }
        agent_id = session.map(|session| session.agent_id);
    }
    Ok(work.of_agent(agent_id))
}
