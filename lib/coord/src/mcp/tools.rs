//! The tools. Each is an operation of the HTTP interface: the same arguments, read by the same parser, and the same answer.

use coord_protocol::{AgentError, CheckRequest, CheckResponse, PostRequest, PostResponse};
use rmcp::model::{CallToolResult, Tool as Definition, ToolAnnotations};

use super::results::{Outcome, result};
use super::schema::{of_arguments, of_results};
use super::serve::Session;
use crate::error::ApiError;
use crate::http::body::parse;
use crate::operations::{CheckError, Refusal, check_as_sent, post};

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    /// `check_status`
    CheckStatus,
    /// `post_status`
    PostStatus,
}

impl Tool {
    /// Every tool.
    pub(super) const ALL: [Tool; 2] = [Tool::CheckStatus, Tool::PostStatus];

    /// The tool called `name`.
    pub(super) fn named(name: &str) -> Option<Tool> {
        Tool::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Tool::CheckStatus => "check_status",
            Tool::PostStatus => "post_status",
        }
    }

    /// What clients are told of it.
    pub(super) fn definition(self) -> Definition {
        // Neither reaches beyond the locks of Coord, and a claim that is made twice is one claim.
        let annotations = ToolAnnotations::new()
            .destructive(false)
            .idempotent(true)
            .open_world(false);
        match self {
            Tool::CheckStatus => Definition::new(
                self.name(),
                "Call before you plan an edit: who else works on these files or on files that import them. Changes nothing.",
                of_arguments::<CheckRequest>(),
            )
            .with_title("Check files")
            .with_raw_output_schema(of_results::<CheckResponse, AgentError>().into())
            .with_annotations(annotations.read_only(true)),
            Tool::PostStatus => Definition::new(
                self.name(),
                "Claim files before you edit them: WRITING, or READING to build on them; all or none. Again within 4 minutes to keep \
                 them. OPEN once pushed. Do what orchestration.action says.",
                of_arguments::<PostRequest>(),
            )
            .with_title("Claim or release files")
            .with_raw_output_schema(of_results::<PostResponse, AgentError>().into())
            .with_annotations(annotations.read_only(false)),
        }
    }
}

/// The result of a call with these arguments, a JSON object.
///
/// # Errors
/// When the place of the repository does not take the caller's credential.
pub(super) async fn call(session: &Session, tool: Tool, arguments: &str) -> Result<CallToolResult, ApiError> {
    let (app, agent) = (&session.app, session.agent.as_deref());
    let outcome = match tool {
        Tool::CheckStatus => {
            let checked = async {
                let sent: CheckRequest = parse(arguments.as_bytes())?;
                check_as_sent(app, &sent, session.caller.clone(), agent).await
            };
            match checked.await {
                Ok(response) => Outcome::Check(response),
                Err(CheckError { error, head }) => Outcome::of(Refusal::of_check(&error, head.as_ref()), error)?,
            }
        }
        Tool::PostStatus => {
            let posted = async {
                let sent: PostRequest = parse(arguments.as_bytes())?;
                post(app, &sent, session.caller.clone(), agent).await
            };
            match posted.await {
                Ok(response) => Outcome::Post(response),
                Err(error) => Outcome::of(Refusal::of_post(&error), error)?,
            }
        }
    };
    Ok(result(&outcome))
}
