//! Calls of the tools of teams.

use coord_agent::mail_notes::MailNotes;
use coord_domain::AgentId;
use coord_mcp::Outcome;
use coord_protocol::team_tools::{TeamCall, TeamCallResponse, ToolCaller};
use coord_server::error::ApiError;

use super::backend::{Failure, REQUEST_TIMEOUT};
use super::proxy::Proxy;
use super::target::{CallOrigin, Target};

/// How long the server may hold a call, so that its response comes within the time limit of a request.
const MAX_WAIT_SECONDS: u32 = 8;

const _: () = assert!((MAX_WAIT_SECONDS as u64) < REQUEST_TIMEOUT.as_secs());

impl Proxy {
    /// The answer to `call`, made as the session's agent.
    pub(super) async fn team(&self, mut call: TeamCall, client: Option<&str>) -> Result<Outcome, Failure> {
        let (repo_url, agent_id) = {
            let (repo_url, agent_id) = call.caller_mut();
            (repo_url.clone(), agent_id.clone())
        };
        let target = self.target(CallOrigin::of(&repo_url, &None, &agent_id, &None), client)?;
        let (_, agent_id) = call.caller_mut();
        *agent_id = Some(target.agent_id.clone());
        if call.lacks_team() {
            let answer = self.team_call(&target, TeamCall::Teams(ToolCaller::default())).await?;
            if let TeamCallResponse::Teams(teams) = answer {
                let team = teams
                    .only_team()
                    .map_err(|problem| ApiError::InvalidField { field: "team", problem })?;
                call = call.in_team(team.to_owned());
            }
        }
        let answer = self.team_call(&target, call).await;
        answer.map(|answer| Outcome::Team(Box::new(answer)))
    }

    /// The answer to `call`, made as the agent that the call names, or else as that of `target`.
    pub(super) async fn team_call(&self, target: &Target, mut call: TeamCall) -> Result<TeamCallResponse, Failure> {
        target.fill(&mut call);
        call.limit_wait(MAX_WAIT_SECONDS);
        let agent = call.caller_mut().1.as_deref().map(AgentId::parse);
        // The key makes a repetition safe if the answer was lost.
        let call = call.with_request_key(uuid::Uuid::now_v7().hyphenated().to_string());
        let answer = self
            .backend
            .ask(&target.root, async |client| client.team_call(&call).await);
        let answer = answer.await?;
        // Tells the session's hooks which messages the agent has, so that they deliver only later ones.
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
        if let (Some(work), Some((task_work, new_head))) = (&self.work, call.work_mut()) {
            work.fill(task_work, new_head);
        }
    }
}
