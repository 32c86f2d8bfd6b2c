//! Calls of the tools of teams.

use coord_agent::mail_notes::MailNotes;
use coord_domain::AgentId;
use coord_mcp::{Outcome, only_team};
use coord_protocol::team_tools::{TeamAnswer, TeamCall, ToolCaller};

use super::backend::{Failure, LIMIT};
use super::proxy::Proxy;
use super::target::{CallOrigin, Target};

/// Most seconds that a call waits, so that its answer comes within the time limit of a request.
const MOST_WAIT: u32 = 8;

const _: () = assert!((MOST_WAIT as u64) < LIMIT.as_secs());

impl Proxy {
    /// The answer to the request `call`, made as the session's agent.
    pub(super) async fn team(&self, mut call: TeamCall, client: Option<&str>) -> Result<Outcome, Failure> {
        let (repo_url, agent_id) = {
            let (repo_url, agent_id) = call.caller_mut();
            (repo_url.clone(), agent_id.clone())
        };
        let target = self.target(CallOrigin::of(&repo_url, &None, &agent_id, &None), client)?;
        let (_, agent_id) = call.caller_mut();
        *agent_id = Some(target.agent_id.clone());
        if call.lacks_team() {
            let listed = self.team_call(&target, TeamCall::Teams(ToolCaller::default())).await?;
            if let TeamAnswer::Teams(teams) = listed {
                call = call.in_team(only_team(&teams)?);
            }
        }
        let answer = self.team_call(&target, call).await;
        answer.map(|answer| Outcome::Team(Box::new(answer)))
    }

    /// The answer to the request `call`, made as its agent, or else that of `target`.
    pub(super) async fn team_call(&self, target: &Target, mut call: TeamCall) -> Result<TeamAnswer, Failure> {
        target.fill(&mut call);
        call.limit_wait(MOST_WAIT);
        let agent = call.caller_mut().1.as_deref().map(AgentId::parse);
        // A request whose answer was lost is repeated.
        let call = call.with_request_key(uuid::Uuid::now_v7().hyphenated().to_string());
        let answer = self
            .backend
            .ask(&target.root, async |client| client.team_call(&call).await);
        let answer = answer.await?;
        // The hooks of the session deliver later messages.
        if let (Some(work), Some(Ok(agent))) = (&target.work, agent) {
            MailNotes::note_answer(&work.working_copy, &agent, &answer, false);
        }
        Ok(answer)
    }
}

impl Target {
    /// Fills in the fields that `call` lacks: the repository, the agent, and the working copy.
    pub(super) fn fill(&self, call: &mut TeamCall) {
        let (repo_url, agent_id) = call.caller_mut();
        if let (None, Some(work)) = (&repo_url, &self.work) {
            *repo_url = Some(work.repo_url());
        }
        agent_id.get_or_insert_with(|| self.agent_id.clone());
        if let (Some(work), Some((sent, new_head))) = (&self.work, call.work_mut()) {
            work.fill(sent, new_head);
        }
    }
}
