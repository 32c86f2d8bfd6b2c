//! Requests to the server, each with a time limit, and why they fail.

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
pub const LIMIT: Duration = Duration::from_secs(10);

/// A request that got no response of its form.
#[derive(Debug)]
pub enum Failure {
    /// Nothing is known of locks: the server cannot be reached, is slow, fails, or is no Coord.
    Offline(ApiError),
    /// The server refuses the request.
    Refused(Box<AgentError>),
}

impl Failure {
    /// The server at `address`, where one is known, is out of reach, or fails.
    pub fn offline(address: Option<&str>, problem: String) -> Failure {
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
                let made = || Orchestration::new(action, error.message.clone());
                let orchestration = orchestration.map_or_else(made, |orchestration| *orchestration);
                Failure::Refused(Box::new(AgentError {
                    error: *error,
                    orchestration,
                    waiting: *waiting,
                }))
            }
            ClientError::Unreachable(error) if error.is_timeout() => Failure::offline(
                Some(address),
                format!("the server at {address} gives no answer within {} s", LIMIT.as_secs()),
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

    /// The outcome of a check.
    pub fn of_check(self) -> Outcome {
        match self {
            Failure::Offline(error) => Refusal::of_check(&error, None).into(),
            Failure::Refused(error) => refused(*error),
        }
    }

    /// The outcome of a claim or a release.
    pub fn of_post(self) -> Outcome {
        match self {
            Failure::Offline(error) => Refusal::of_post(&error).into(),
            Failure::Refused(error) => refused(*error),
        }
    }

    /// The outcome of a call about an intent or a team.
    #[cfg(any(feature = "intents", feature = "teams"))]
    pub fn of_intent(self) -> Outcome {
        match self {
            Failure::Offline(error) => Outcome::Refused(error.for_agent()),
            Failure::Refused(error) => refused(*error),
        }
    }

    /// The error as HTTP would answer it.
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

fn refused(error: AgentError) -> Outcome {
    match error.error.error {
        ErrorCode::InvalidField | ErrorCode::MalformedBody => Outcome::Malformed(error),
        _ => Outcome::Refused(error),
    }
}

/// The servers that this process asks: mostly one.
pub struct Backend {
    args: AgentArgs,
    /// By the root of the working copy that asks.
    connections: Mutex<HashMap<PathBuf, Connection>>,
    /// So that two requests do not both start a server.
    opening: tokio::sync::Mutex<()>,
}

impl Backend {
    /// One without a connection.
    pub fn new(args: AgentArgs) -> Backend {
        Backend {
            args,
            connections: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
        }
    }

    /// The response of the server of the working copy at `root` to `request`. If the connection is out of date, because the server of this machine has ended,
    /// another one has its address, or a token was changed, the request is repeated over a new one; all requests are idempotent.
    ///
    /// # Errors
    /// When there is no answer, or the server refuses the request.
    pub async fn ask<T>(
        &self,
        root: &Path,
        request: impl AsyncFn(&Client) -> Result<T, ClientError>,
    ) -> Result<T, Failure> {
        let connection = self
            .connection(root)
            .await
            .map_err(|problem| Failure::offline(None, problem))?;
        let error = match request(&connection.client).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        if !is_out_of_date(&connection, &error) {
            return Err(Failure::of(error, &connection.address));
        }
        self.connections.lock().remove(root);
        let connection = self
            .connection(root)
            .await
            .map_err(|problem| Failure::offline(None, problem))?;
        let answer = request(&connection.client).await;
        answer.map_err(|error| Failure::of(error, &connection.address))
    }

    /// The connection of the working copy at `root`.
    ///
    /// # Errors
    /// A sentence: the address or the token cannot be used, or the server of this machine does not start.
    pub async fn connection(&self, root: &Path) -> Result<Connection, String> {
        let _alone = self.opening.lock().await;
        if let Some(connection) = self.connections.lock().get(root) {
            return Ok(connection.clone());
        }
        let (args, folder) = (self.args.clone(), root.to_owned());
        let opened = tokio::task::spawn_blocking(move || {
            let working_copy = WorkingCopy::containing(&folder)?;
            Connection::open(&args, &working_copy, None, LIMIT)
        });
        let opened = opened
            .await
            .map_err(|error| format!("the server is not found: {error}"))?;
        let connection = opened.map_err(|error| format!("{error:#}"))?;
        self.connections.lock().insert(root.to_owned(), connection.clone());
        Ok(connection)
    }
}

fn is_out_of_date(connection: &Connection, error: &ClientError) -> bool {
    match error {
        ClientError::Unreachable(error) => connection.is_local && !error.is_timeout(),
        ClientError::OtherServer => true,
        // Any program may have the address of a server that was killed.
        ClientError::Malformed { .. } => connection.is_local,
        ClientError::Refused { status, .. } => *status == 401,
        _ => false,
    }
}
