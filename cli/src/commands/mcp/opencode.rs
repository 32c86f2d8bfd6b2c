//! Calls of the tools of the plugin opencode-teams.

use coord_opencode_tools::{self as opencode, Defaults, OpenCodeAnswer, OpenCodeCall, Refused, Requests};
use coord_protocol::ErrorCode;
use coord_protocol::team_tools::{TeamCall, TeamCallResponse};
use coord_settings::{env_vars, process_environment, value_of};
use rmcp::model::CallToolResult;

use super::backend::Failure;
use super::proxy::Proxy;
use super::target::{CallOrigin, Target};

impl Refused for Failure {
    fn code(&self) -> ErrorCode {
        match self {
            Failure::Offline(error) => error.code(),
            Failure::Refused(error) => error.error.error,
        }
    }
}

/// Requests of the agent of a target, by its server.
struct TargetRequests<'a> {
    proxy: &'a Proxy,
    target: &'a Target,
}

impl Requests for TargetRequests<'_> {
    type Error = Failure;

    async fn make(&self, call: TeamCall) -> Result<TeamCallResponse, Failure> {
        self.proxy.team_call(self.target, call).await
    }
}

impl Proxy {
    /// The answer to `call`, made under the handle that the call names, or else as the session's agent.
    pub(super) async fn opencode(&self, call: &OpenCodeCall, client: Option<&str>) -> CallToolResult {
        self.mark_messages_read().await;
        match self.answer_opencode(call, client).await {
            Ok(answer) => answer.result(),
            Err(failure) => opencode::refusal(failure.for_agent()),
        }
    }

    async fn answer_opencode(&self, call: &OpenCodeCall, client: Option<&str>) -> Result<OpenCodeAnswer, Failure> {
        let repo_url = call.repo_url().map(str::to_owned);
        let target = self.target(CallOrigin::of(&repo_url, &None, &None, &None), client)?;
        let defaults = Defaults {
            agent_id: Some(target.agent_id.clone()),
            agent_name: value_of(&process_environment, env_vars::OPENCODE_AGENT_NAME),
            agent_type: value_of(&process_environment, env_vars::OPENCODE_AGENT_TYPE),
        };
        let requests = TargetRequests {
            proxy: self,
            target: &target,
        };
        let mut answer = opencode::answer(call, &defaults, &requests).await?;
        if let Some(mut proof) = answer.proof.take() {
            target.fill(&mut proof);
            self.read_proofs.lock().push((target.root.clone(), *proof));
        }
        Ok(answer)
    }

    /// Marks the messages of earlier answers as read: an agent that makes another call has received them. If an agent
    /// dies before, the agent that continues gets its messages again.
    async fn mark_messages_read(&self) {
        let proofs = std::mem::take(&mut *self.read_proofs.lock());
        for (root, call) in proofs {
            let answer = self.backend.ask(&root, async |client| client.team_call(&call).await);
            match answer.await {
                Ok(_) => {}
                Err(Failure::Offline(_)) => self.read_proofs.lock().push((root, call)),
                // The agent no longer has the handle: the messages are for its new owner.
                Err(Failure::Refused(error)) => tracing::debug!(reason = error.error.message, "messages stay unread"),
            }
        }
    }
}
