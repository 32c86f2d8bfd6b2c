//! Requests to the server, each with a time limit, and their failures.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use coord_agent::connection::{Connection, no_server};
use coord_agent::options::AgentArgs;
use coord_git::WorkingCopy;
use coord_mcp::Outcome;
use coord_protocol::{Action, AgentError, Client, ClientError, ErrorCode, Orchestration};
use coord_server::error::ApiError;
use coord_server::operations::Refusal;
use parking_lot::Mutex;

/// Time limit of a request.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a request got no response.
#[derive(Debug)]
pub enum Failure {
    /// The locks are unknown: the server cannot be reached, is slow, fails, or is not a Coord server.
    Offline(ApiError),
    /// The server refused the request.
    Refused(Box<AgentError>),
}

impl Failure {
    /// The server, at `address` if that is known, cannot be reached or fails.
    fn offline(address: Option<&str>, problem: String) -> Failure {
        Failure::Offline(no_server(address, problem))
    }

    fn of(error: ClientError, address: &str) -> Failure {
        match error {
            ClientError::Refused {
                status,
                error,
                orchestration,
                waiting,
                ..
            } if status < 500 => {
                let action = match error.error {
                    ErrorCode::RateLimited => Action::Wait,
                    _ => Action::Stop,
                };
                let default = || Orchestration::new(action, error.message.clone());
                let orchestration = orchestration.map_or_else(default, |orchestration| *orchestration);
                Failure::Refused(Box::new(AgentError {
                    error: *error,
                    orchestration,
                    waiting: *waiting,
                }))
            }
            ClientError::Unreachable(error) if error.is_timeout() => Failure::offline(
                Some(address),
                format!(
                    "the server at {address} does not answer within {} s",
                    REQUEST_TIMEOUT.as_secs()
                ),
            ),
            ClientError::Unreachable(error) if error.is_connect() => {
                Failure::offline(Some(address), format!("the server at {address} cannot be reached"))
            }
            ClientError::Unreachable(_) => {
                Failure::offline(Some(address), format!("the server at {address} broke off its answer"))
            }
            error => Failure::offline(Some(address), format!("the server at {address} fails: {error}")),
        }
    }

    pub fn into_check_outcome(self) -> Outcome {
        match self {
            Failure::Offline(error) => Refusal::of_check(&error, None).into(),
            Failure::Refused(error) => refusal_outcome(*error),
        }
    }

    /// The outcome of a claim or a release.
    pub fn into_post_outcome(self) -> Outcome {
        match self {
            Failure::Offline(error) => Refusal::of_post(&error).into(),
            Failure::Refused(error) => refusal_outcome(*error),
        }
    }

    /// The outcome of a call about an intent or a team.
    #[cfg(any(feature = "intents", feature = "teams"))]
    pub fn into_extension_outcome(self) -> Outcome {
        match self {
            Failure::Offline(error) => Outcome::Refused(error.for_agent()),
            Failure::Refused(error) => refusal_outcome(*error),
        }
    }

    /// The error as a response over HTTP has it.
    pub fn for_agent(self) -> AgentError {
        match self {
            Failure::Offline(error) => error.for_agent(),
            Failure::Refused(error) => *error,
        }
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        match error {
            error if error.is_offline() => Failure::Offline(error),
            error => Failure::Refused(Box::new(error.for_agent())),
        }
    }
}

fn refusal_outcome(error: AgentError) -> Outcome {
    match error.error.error {
        ErrorCode::InvalidField | ErrorCode::MalformedBody => Outcome::Malformed(error),
        _ => Outcome::Refused(error),
    }
}

/// The servers of this process: usually one.
pub struct Backend {
    args: AgentArgs,
    /// By the root of the working copy.
    connections: Mutex<HashMap<PathBuf, Connection>>,
    /// Prevents two requests from starting a server each.
    open_lock: tokio::sync::Mutex<()>,
}

impl Backend {
    /// A backend without connections.
    pub fn new(args: AgentArgs) -> Backend {
        Backend {
            args,
            connections: Mutex::default(),
            open_lock: tokio::sync::Mutex::default(),
        }
    }

    /// Sends `request` to the server of the working copy at `root`. A connection is outdated if the server of this
    /// machine has ended, another server has its address, or a token was changed. Then the request is repeated over a
    /// new connection; all requests are idempotent.
    ///
    /// # Errors
    /// When there is no response, or the server refuses the request.
    pub async fn ask<T>(
        &self,
        root: &Path,
        request: impl AsyncFn(&Client) -> Result<T, ClientError>,
    ) -> Result<T, Failure> {
        let mut is_repeated = false;
        loop {
            let connection = self
                .connection(root)
                .await
                .map_err(|problem| Failure::offline(None, problem))?;
            match request(&connection.client).await {
                Err(error) if !is_repeated && is_outdated(&connection, &error) => {
                    self.connections.lock().remove(root);
                    is_repeated = true;
                }
                response => return response.map_err(|error| Failure::of(error, &connection.address)),
            }
        }
    }

    /// The connection of the working copy at `root`.
    ///
    /// # Errors
    /// A sentence: the address or the token cannot be used, or the server of this machine does not start.
    pub async fn connection(&self, root: &Path) -> Result<Connection, String> {
        let _guard = self.open_lock.lock().await;
        if let Some(connection) = self.connections.lock().get(root) {
            return Ok(connection.clone());
        }
        let (args, folder) = (self.args.clone(), root.to_owned());
        let result = tokio::task::spawn_blocking(move || {
            let working_copy = WorkingCopy::containing(&folder)?;
            Connection::open(&args, &working_copy, None, REQUEST_TIMEOUT)
        });
        let result = result
            .await
            .map_err(|error| format!("the server is not found: {error}"))?;
        let connection = result.map_err(|error| format!("{error:#}"))?;
        self.connections.lock().insert(root.to_owned(), connection.clone());
        Ok(connection)
    }
}

fn is_outdated(connection: &Connection, error: &ClientError) -> bool {
    match error {
        ClientError::Unreachable(error) => connection.is_local && !error.is_timeout(),
        ClientError::OtherServer => true,
        // Any program may have the address of a server that was killed.
        ClientError::Malformed { .. } => connection.is_local,
        ClientError::Refused { status, .. } => *status == 401,
        _ => false,
    }
}
