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
#[cfg(feature = "teams")]
use coord_protocol::team_tools::TeamCall;
use coord_protocol::{Action, CheckRequest, LockStatus, PostRequest, PostResponse};
use coord_server::error::ApiError;
use coord_server::operations::unknown_fields;
#[cfg(feature = "teams")]
use coord_team_tools::read_call;
use rmcp::model::CallToolResult;

use super::backend::Failure;
use super::proxy::Proxy;
use super::target::CallOrigin;

/// The request that a call stands for.
enum Call {
    Heart(Box<Arguments>),
    #[cfg(feature = "intents")]
    Intents(IntentCall),
    #[cfg(feature = "teams")]
    Teams(Box<TeamCall>),
    #[cfg(feature = "teams")]
    OpenCode(Box<OpenCodeCall>),
}

/// Reads the `arguments` of the tool `name`.
fn read(name: &str, arguments: &str) -> Result<Call, ApiError> {
    #[cfg(feature = "intents")]
    if let Some(call) = IntentCall::read(name, arguments) {
        return call.map(Call::Intents);
    }
    #[cfg(feature = "teams")]
    if let Some(call) = read_call(name, arguments) {
        return call.map(|call| Call::Teams(Box::new(call)));
    }
    #[cfg(feature = "teams")]
    if let Some(call) = OpenCodeCall::read(name, arguments) {
        return call.map(|call| Call::OpenCode(Box::new(call)));
    }
    let call = Arguments::read(name, arguments).unwrap_or(Err(ApiError::Internal));
    call.map(|call| Call::Heart(Box::new(call)))
}

impl Proxy {
    /// The result of a call with `arguments`, a JSON object. `client` is the client's name.
    pub async fn call(&self, tool: &Tool, arguments: &str, client: Option<&str>) -> CallToolResult {
        self.note_call();
        let mut outcome = match read(tool.name, arguments) {
            Ok(Call::Heart(call)) => match *call {
                Arguments::Check(sent) => self.check(sent, client).await.unwrap_or_else(Failure::of_check),
                Arguments::Post(sent) => self.post(sent, client).await.unwrap_or_else(Failure::of_post),
            },
            #[cfg(feature = "intents")]
            Ok(Call::Intents(call)) => self.intent(call, client).await.unwrap_or_else(Failure::of_intent),
            #[cfg(feature = "teams")]
            Ok(Call::Teams(call)) => self.team(*call, client).await.unwrap_or_else(Failure::of_intent),
            #[cfg(feature = "teams")]
            Ok(Call::OpenCode(call)) => return self.opencode(&call, client).await,
            Err(error) => Outcome::Malformed(error.for_agent()),
        };
        self.note_use(&outcome);
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
        let about = CallOrigin::of(&sent.repo_url, &sent.branch, &sent.agent_id, &sent.file_paths);
        let target = self.target(about, client)?;
        let request = target.check(sent);
        self.note_expired(&target.holder(&request.repo_url), &target.root).await;
        let answer = self
            .backend
            .ask(&target.root, async |client| client.check_status(&request).await);
        let mut response = answer.await?;
        response.warnings.extend(unknown_fields(&request.unknown_fields));
        target.adapt_command(&mut response.orchestration).await;
        Ok(Outcome::Check(response))
    }

    async fn post(&self, sent: PostRequest, client: Option<&str>) -> Result<Outcome, Failure> {
        let about = CallOrigin::of(&sent.repo_url, &sent.branch, &sent.agent_id, &sent.file_paths);
        let target = self.target(about, client)?;
        let is_filled_in = sent.agent_head.is_none() && sent.new_repo_head.is_none();
        let mut request = target.post(sent);
        let _beside_others = self.posts.read().await;
        let holder = target.holder(&request.repo_url);
        self.note_expired(&holder, &target.root).await;
        self.retries.forget(&request);
        let ask = async |request: &PostRequest| {
            let answer = self
                .backend
                .ask(&target.root, async |client| client.post_status(request).await);
            answer.await
        };
        let mut answer = ask(&request).await;
        // Git knows more than the server: pushes to other branches, and files that were never changed.
        if let (true, Ok(response), Some(work)) = (is_filled_in, &answer, &target.work)
            && response.orchestration.action == Action::Push
            && let Some(again) = released_otherwise(work, &request).await
        {
            request = again;
            answer = ask(&request).await;
        }
        let mut outcome = match answer {
            Ok(mut response) => {
                target.adapt_command(&mut response.orchestration).await;
                Outcome::Post(response)
            }
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

/// The release that replaces `refused` by git's facts: the same again, if a remote has the pushed work; one without a push, if
/// nothing was changed.
async fn released_otherwise(work: &Work, refused: &PostRequest) -> Option<PostRequest> {
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

/// Whether the server says that it knows nothing of locks for now.
pub fn is_offline(response: &PostResponse) -> bool {
    response.error.as_ref().is_some_and(|error| error.error.is_offline())
}
