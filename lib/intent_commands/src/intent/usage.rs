//! `coord intent usage`.

use std::process::ExitCode;

use anyhow::ensure;
use clap::Args;
use coord_agent::options::AgentArgs;
use coord_agent::workplace::Workplace;
use coord_protocol::{AgentSession, SessionTokens, ToolCall, UsageRequest};

/// Options of `coord intent usage`.
#[derive(Clone, Debug, Args)]
pub(super) struct UsageArgs {
    /// The intent
    #[arg(value_name = "ID")]
    id: String,
    /// All tokens of the session so far; a report that is sent twice counts once
    #[arg(long, value_name = "NUMBER", requires = "session")]
    tokens: Option<u64>,
    /// The session
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// A tool call that may change something, and makes no claim
    #[arg(long, value_name = "NAME", requires = "digest")]
    tool: Option<String>,
    /// A digest of the call's input: three identical ones in a row are allowed
    #[arg(long, value_name = "DIGEST", requires = "tool")]
    digest: Option<String>,
    /// Print the response as JSON
    #[arg(long)]
    json: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    agent: AgentArgs,
}

impl UsageArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        ensure!(
            self.tokens.is_some() || self.tool.is_some(),
            "report --tokens with --session, --tool with --digest, or both"
        );
        let workplace = Workplace::open(&self.agent)?;
        let tool_call = self.tool.zip(self.digest);
        let request = UsageRequest {
            repo_url: Some(workplace.work.repo_url()),
            tool_call: tool_call.map(|(name, digest)| ToolCall { name, digest }),
            tokens: self.tokens.map(|total| SessionTokens {
                session_id: self.session.clone().unwrap_or_default(),
                total,
            }),
            session: self.session.map(|session_id| AgentSession {
                session_id,
                contributor: String::new(),
            }),
            agent_id: None,
        };
        let request = workplace.connection.client.use_intent(&self.id, &request);
        workplace.print_intent(request, self.json).await
    }
}
