//! Calls of tools.

use coord::mcp::{Arguments, Outcome, Tool};
use coord::operations::unknown_fields;
use coord_protocol::{CheckRequest, LockStatus, PostRequest, PostResponse};
use rmcp::model::CallToolResult;

use super::backend::Failure;
use super::proxy::Proxy;
use super::target::Sent;

impl Proxy {
    /// The result of a call with `arguments`, a JSON object. `client` is what the client calls itself.
    pub async fn call(&self, tool: Tool, arguments: &str, client: Option<&str>) -> CallToolResult {
        self.note_call();
        let mut outcome = match Arguments::read(tool, arguments) {
            Ok(Arguments::Check(sent)) => self.check(sent, client).await.unwrap_or_else(Failure::of_check),
            Ok(Arguments::Post(sent)) => self.post(sent, client).await.unwrap_or_else(Failure::of_post),
            Ok(Arguments::Select(sent)) => self.select(sent, client).await.unwrap_or_else(Failure::of_intent),
            Ok(Arguments::Update(sent)) => self.update(*sent, client).await.unwrap_or_else(Failure::of_intent),
            Ok(Arguments::Team(call)) => self.team(*call, client).await.unwrap_or_else(Failure::of_intent),
            Ok(Arguments::OpenCode(call)) => return self.opencode(&call, client).await,
            Err(error) => Outcome::Malformed(error.for_agent()),
        };
        match &mut outcome {
            Outcome::Check(response) => response.warnings.extend(self.retries.take_notes()),
            Outcome::Post(response) => response.warnings.extend(self.retries.take_notes()),
            Outcome::Intent(response) => response.warnings.extend(self.retries.take_notes()),
            // These have no place for warnings: they wait.
            Outcome::Team(_) | Outcome::Refused(_) | Outcome::Malformed(_) => {}
        }
        outcome.result()
    }

    async fn check(&self, sent: CheckRequest, client: Option<&str>) -> Result<Outcome, Failure> {
        let about = Sent::of(&sent.repo_url, &sent.branch, &sent.agent_id, &sent.file_paths);
        let target = self.target(about, client)?;
        let request = target.check(sent);
        self.note_expired(&target.holder(&request.repo_url), &target.root).await;
        let answer = self
            .backend
            .ask(&target.root, async |client| client.check_status(&request).await);
        let mut response = answer.await?;
        response.warnings.extend(unknown_fields(&request.unknown_fields));
        Ok(Outcome::Check(response))
    }

    async fn post(&self, sent: PostRequest, client: Option<&str>) -> Result<Outcome, Failure> {
        let about = Sent::of(&sent.repo_url, &sent.branch, &sent.agent_id, &sent.file_paths);
        let target = self.target(about, client)?;
        let request = target.post(sent);
        let _beside_others = self.posts.read().await;
        let holder = target.holder(&request.repo_url);
        self.note_expired(&holder, &target.root).await;
        self.retries.forget(&request);
        let answer = self
            .backend
            .ask(&target.root, async |client| client.post_status(&request).await);
        let mut outcome = match answer.await {
            Ok(response) => Outcome::Post(response),
            Err(failure) => failure.of_post(),
        };
        if let Outcome::Post(response) = &mut outcome {
            self.note_ttl(response);
            response.warnings.extend(unknown_fields(&request.unknown_fields));
            self.claims.note(&holder, &request, response);
            if is_offline(response) && request.status == Some(LockStatus::Open) {
                let ttl = *self.ttl.borrow();
                response.warnings.push(self.retries.add(target.root, request, ttl));
            }
        }
        Ok(outcome)
    }
}

/// Whether the server says that it knows nothing of locks for now.
pub fn is_offline(response: &PostResponse) -> bool {
    response.error.as_ref().is_some_and(|error| error.error.is_offline())
}
