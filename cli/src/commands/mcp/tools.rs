//! Calls of tools.

use coord_agent::changes::changed;
use coord_agent::pushed;
use coord_agent::work::Work;
use coord_domain::FilePaths;
#[cfg(feature = "intents")]
use coord_intent_tools::IntentCall;
use coord_mcp::{Arguments, Outcome, Tool};
#[cfg(feature = "teams")]
use coord_opencode_tools::OpenCodeCall;
use coord_protocol::{Action, CheckRequest, LockStatus, PostRequest, PostResponse};
use coord_server::error::ApiError;
use coord_server::operations::unknown_fields;
#[cfg(feature = "teams")]
use coord_team_tools::read_call;
use rmcp::model::CallToolResult;

use super::backend::Failure;
use super::proxy::Proxy;
use super::target::CallOrigin;

impl Proxy {
    /// The result of a call with `arguments`, a JSON object. `client` is the client's name.
    pub async fn call(&self, tool: &Tool, arguments: &str, client: Option<&str>) -> CallToolResult {
        self.note_call();
        #[cfg(feature = "teams")]
        if let Some(call) = OpenCodeCall::read(tool.name, arguments) {
            return match call {
                Ok(call) => self.opencode(&call, client).await,
                Err(error) => Outcome::Malformed(error.for_agent()).result(),
            };
        }
        let outcome = self.outcome(tool.name, arguments, client).await;
        let mut outcome = outcome.unwrap_or_else(|error| Outcome::Malformed(error.for_agent()));
        self.note_use(&outcome);
        match &mut outcome {
            Outcome::Check(response) => response.warnings.extend(self.retries.take_notes()),
            Outcome::Post(response) => response.warnings.extend(self.retries.take_notes()),
            Outcome::Intent(response) => response.warnings.extend(self.retries.take_notes()),
            // These have no warnings, so the notes wait for the next response that has.
            Outcome::Team(_) | Outcome::Refused(_) | Outcome::Malformed(_) => {}
        }
        outcome.result()
    }

    /// The outcome of a call of the tool `name`.
    ///
    /// # Errors
    /// When the arguments do not have the shape of the tool's request.
    async fn outcome(&self, name: &str, arguments: &str, client: Option<&str>) -> Result<Outcome, ApiError> {
        #[cfg(feature = "intents")]
        if let Some(call) = IntentCall::read(name, arguments) {
            let outcome = self.intent(call?, client).await;
            return Ok(outcome.unwrap_or_else(Failure::into_extension_outcome));
        }
        #[cfg(feature = "teams")]
        if let Some(call) = read_call(name, arguments) {
            let outcome = self.team(call?, client).await;
            return Ok(outcome.unwrap_or_else(Failure::into_extension_outcome));
        }
        let call = Arguments::read(name, arguments).unwrap_or(Err(ApiError::Internal))?;
        Ok(match call {
            Arguments::Check(request) => {
                let outcome = self.check(request, client).await;
                outcome.unwrap_or_else(Failure::into_check_outcome)
            }
            Arguments::Post(request) => {
                let outcome = self.post(request, client).await;
                outcome.unwrap_or_else(Failure::into_post_outcome)
            }
        })
    }

    async fn check(&self, request: CheckRequest, client: Option<&str>) -> Result<Outcome, Failure> {
        let origin = CallOrigin::of(
            &request.repo_url,
            &request.branch,
            &request.agent_id,
            &request.file_paths,
        );
        let target = self.target(origin, client)?;
        let request = target.check(request);
        self.note_expired(&target.holder(&request.repo_url), &target.root).await;
        let response = self
            .backend
            .ask(&target.root, async |client| client.check_status(&request).await);
        let mut response = response.await?;
        response.warnings.extend(unknown_fields(&request.unknown_fields));
        target.adapt_command(&mut response.orchestration).await;
        Ok(Outcome::Check(response))
    }

    async fn post(&self, request: PostRequest, client: Option<&str>) -> Result<Outcome, Failure> {
        let origin = CallOrigin::of(
            &request.repo_url,
            &request.branch,
            &request.agent_id,
            &request.file_paths,
        );
        let target = self.target(origin, client)?;
        let is_filled_in = request.agent_head.is_none() && request.new_repo_head.is_none();
        let mut request = target.post(request);
        let _guard = self.posts.read().await;
        let holder = target.holder(&request.repo_url);
        self.note_expired(&holder, &target.root).await;
        self.retries.forget(&request);
        let mut result = self.post_status(&target.root, &request).await;
        // Git knows more than the server: pushes to other branches, and files that were never changed.
        if let (true, Ok(response), Some(work)) = (is_filled_in, &result, &target.work)
            && response.orchestration.action == Action::Push
            && let Some(replacement) = replacement_for_refused_release(work, &request).await
        {
            request = replacement;
            result = self.post_status(&target.root, &request).await;
        }
        let mut outcome = match result {
            Ok(mut response) => {
                target.adapt_command(&mut response.orchestration).await;
                Outcome::Post(response)
            }
            Err(failure) => failure.into_post_outcome(),
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

/// The release that replaces `refused`, by git's facts. If a remote has the pushed work, it is the same release with
/// current commits. If nothing was changed, it is a release without a push.
async fn replacement_for_refused_release(work: &Work, refused: &PostRequest) -> Option<PostRequest> {
    let files = refused
        .file_paths
        .clone()
        .filter(|files| !files.iter().any(|file| file == FilePaths::EVERYTHING))?;
    if pushed::query_remotes_for_pushes(&work.working_copy).await {
        let release = work.release(files, String::new());
        return Some(PostRequest {
            work_branch: release.work_branch,
            base_head: release.base_head,
            new_repo_head: release.new_repo_head,
            ..refused.clone()
        });
    }
    let changed = changed(&work.working_copy, &work.branch, &files).await.ok()?;
    changed.is_empty().then(|| PostRequest {
        abandon: Some(true),
        new_repo_head: None,
        ..refused.clone()
    })
}

/// Whether the server cannot access its locks now.
pub fn is_offline(response: &PostResponse) -> bool {
    response.error.as_ref().is_some_and(|error| error.error.is_offline())
}
