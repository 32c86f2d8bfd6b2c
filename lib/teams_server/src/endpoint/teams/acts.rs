//! Requests that only have a body: they act on a team, a task, or an inbox.

/// The type of a name in a path, for a repetition over `$kind`.
macro_rules! text {
    ($kind:ident) => {
        String
    };
}

/// A name in a path, as an argument of an operation.
macro_rules! borrowed {
    ($name:ident, $kind:ident) => {
        &$name
    };
}

/// Declares such endpoints. The sentences appear in the OpenAPI document.
macro_rules! acts {
    ($(
        $module:ident = $operation:ident($request:ident of $from:ident) at $path:literal
        $(named $parameter:literal as $kind:ident)?
        -> $response:ident $schema:literal [$($code:ident),* $(,)?]:
        $summary:literal, $description:literal;
    )*) => {$(
        #[doc = $summary]
        pub(crate) mod $module {
            use std::sync::Arc;

            use axum::body::Body;
            use axum::extract::State;
            use axum::http::{HeaderMap, Request};
            use axum::response::Response;
            use axum::routing::{MethodRouter, post};
            use coord_protocol::$from::{$request, $response};
            use utoipa::OpenApi;

            use super::super::answers::{answers, respond};
            use super::super::read_request;
            use coord_server::app::App;
            use coord_http::openapi::fields::AgentHeaders;
            use crate::operations::teams::$operation;
            $(use coord_protocol::schema::$kind;)?

            pub(crate) fn serve(_: &App) -> MethodRouter<Arc<App>> {
                post($module)
            }

            /// Its part of the OpenAPI document.
            #[derive(OpenApi)]
            #[openapi(paths($module), components(schemas($request, $response)))]
            pub(crate) struct Document;

            answers! {
                Done = $schema, Change, "POST", [UnknownTeam, NotAMember, Superseded $(, $code)*];
            }

            #[doc = $summary]
            #[doc = ""]
            #[doc = $description]
            #[utoipa::path(
                post,
                path = $path,
                tag = "agents",
                params($(($parameter = $kind, Path, description = "The one that the path names"),)? AgentHeaders),
                request_body(content = $request),
                responses(Done),
                security(("bearer" = []), ("api_key" = []))
            )]
            async fn $module(
                State(app): State<Arc<App>>,
                $(axum::extract::Path(name): axum::extract::Path<text!($kind)>,)?
                headers: HeaderMap,
                request: Request<Body>,
            ) -> Response {
                let response = async {
                    let (context, body): (_, $request) = read_request(&app, &headers, request).await?;
                    $operation(&app, $(borrowed!(name, $kind),)? &body, context).await
                };
                respond(response.await)
            }
        }
    )*};
}

acts! {
    team_join = join_team(JoinTeamRequest of teams) at "/api/teams/{team}/join" named "team" as TeamName
        -> TeamChangeResponse "TeamChanged" [TeamClosed, TooMany, AlreadyMember, HandleTaken]:
        "Join a team.",
        "Under a handle, by default the `agent_id`. A handle of the caller's own login is taken over, with its inbox and its tasks.";
    team_leave = leave_team(LeaveTeamRequest of teams) at "/api/teams/{team}/leave" named "team" as TeamName
        -> TeamChangeResponse "TeamChanged" [LeaderStays]:
        "Leave a team.",
        "The caller's tasks are released. The leader must hand the team over first.";
    team_shutdown = shut_down(ShutdownRequest of teams) at "/api/teams/{team}/shutdown" named "team" as TeamName
        -> TeamChangeResponse "TeamChanged"
        [NotLeader, TeamClosed, UnknownRecipient, InboxFull, ShutdownOpen, UnknownShutdown, ShutdownAnswered, ShutdownTooEarly]:
        "Request, approve, reject or force a shutdown.",
        "Each member answers for itself. After approval it can claim nothing, and its tasks are released.";
    task_next = next_task(NextTaskRequest of tasks) at "/api/tasks/next"
        -> TaskResponse "TaskAnswer"
        [TeamClosed, TooMany, KeyReused, ShuttingDown, ClaimLost, FilesClaimed, StaleHead, TooManyLocks, TooMuchAtOnce, IntentRequired,
         IntentNotActive, IntentBlocked, ScopeViolation, FileOwned, BudgetExhausted, CircuitOpen]:
        "Claim the first task that is ready and whose files are free.",
        "By priority, then by age; tasks assigned to the caller come first. Its files are claimed with it. Without a task, the answer is \
         WAIT and says why.";
    task_claim = claim_task(ClaimTaskRequest of tasks) at "/api/tasks/{id}/claim" named "id" as TaskId
        -> TaskResponse "TaskAnswer"
        [UnknownTask, TeamClosed, TooMany, ShuttingDown, TaskUnavailable, TaskTaken, TaskHeldBack, TaskReserved, DependenciesUnmet,
         OtherBranch, FilesClaimed, LockConflict, StaleHead, TooManyLocks, TooMuchAtOnce, IntentRequired, IntentNotActive, IntentBlocked,
         ScopeViolation, FileOwned, BudgetExhausted, CircuitOpen]:
        "Claim a task with its files, or renew its claim.",
        "All or nothing. A task that names files requires `branch` and `agent_head`, unless `claim_files` is false. The response has the description, notes, and results of the dependencies. Requests of the owner \
         that change tasks, and those that read or send messages, renew the claim, too, once half of its time is gone.";
    task_complete = complete_task(CompleteTaskRequest of tasks) at "/api/tasks/{id}/complete" named "id" as TaskId
        -> TaskResponse "TaskAnswer"
        [UnknownTask, TeamClosed, InvalidTransition, TaskUnavailable, ClaimLost, NotOwner, OtherBranch, NotPushed, LockLost, TooMuchAtOnce]:
        "Complete a task.",
        "Only its owner may complete it, and may repeat the request. Files that were claimed with it are released by the rules of OPEN: once they are pushed. Its dependents \
         lose the dependency, and their owners get a message.";
    task_release = release_task(ReleaseTaskRequest of tasks) at "/api/tasks/{id}/release" named "id" as TaskId
        -> TaskResponse "TaskAnswer"
        [UnknownTask, TeamClosed, InvalidTransition, TaskUnavailable, ClaimLost, NotOwner, NotesFull, OtherBranch, TooMuchAtOnce]:
        "Release a task.",
        "Any member may claim it then. A note describes its progress. Of the files that were claimed with it, pushed ones are \
         released; the locks on the others stay.";
    messages_read = read_messages(ReadMessagesRequest of messages) at "/api/messages/read"
        -> InboxResponse "Inbox" [CursorAhead]:
        "Read the caller's messages.",
        "`cursor` of the last response marks earlier messages as read; nothing else does. With `wait`, the answer comes with the first \
         message.";
}
