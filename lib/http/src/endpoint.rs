//! The table of routes: path, audience, and function of each endpoint. The router, the edge, the host guard and the OpenAPI
//! document read it, and the settings of the platform are made from it (`platform`).

use std::time::Duration;

use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;

use super::route::Route;

mod activity;
mod check_status;
mod cron_cleanup;
mod events;
mod github_webhook;
mod graph;
mod health;
mod intents;
mod ledger;
mod locks;
mod mcp;
mod mcp_metadata;
mod post_status;
mod teams;

use intents::acts::{
    intent_abandon, intent_allow, intent_block, intent_complete, intent_select, intent_take_over, intent_unblock,
};
use intents::{intent, usage as intent_usage};
use ledger::{checkpoint as ledger_checkpoint, map as ledger_map, verify as ledger_verify};
pub use mcp::Protocol;
use teams::acts::{
    messages_read, task_claim, task_complete, task_next, task_release, team_join, team_leave, team_shutdown,
};
use teams::{messages, task, tasks, team};
pub use {
    activity::ActivityQuery, graph::GraphQuery, graph::read_graph_view, intents::IntentsQuery, ledger::LedgerQuery,
    locks::LocksQuery, teams::TaskQuery, teams::TeamsQuery,
};

const AGENTS: Route = Route::OF_AGENTS;
const PEOPLE: Route = Route::OF_PEOPLE;
const OPERATORS: Route = Route::OF_OPERATORS;
const HALF_A_MINUTE: Duration = Duration::from_secs(30);

/// The path of an endpoint: `/api/` and the name of its module, where it names no other.
macro_rules! path_of {
    ($module:ident) => {
        concat!("/api/", stringify!($module))
    };
    ($module:ident $path:literal) => {
        $path
    };
}

/// A module has `serve` (its methods) and `Document` (its part of the OpenAPI document).
macro_rules! endpoints {
    ($($name:ident = $module:ident $(at $path:literal)? { $($field:ident: $value:expr,)* ..$kind:ident };)*) => {
        /// An endpoint. A function serves one and those that are served with it; `coord serve` serves all.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Endpoint {
            $(#[doc = concat!("`", path_of!($module $($path)?), "`")] $name,)*
        }

        impl Endpoint {
            /// Every endpoint.
            pub const ALL: [Endpoint; [$(stringify!($name)),*].len()] = [$(Endpoint::$name),*];
        }

        /// The table, in the order of the endpoints.
        pub static ROUTES: [Route; Endpoint::ALL.len()] = [
            $(Route {
                name: stringify!($module),
                path: path_of!($module $($path)?),
                serve: $module::serve,
                $($field: $value,)*
                ..$kind
            },)*
        ];

        /// The parts of the OpenAPI document. They are no field of the table, so that functions are built without them.
        pub(super) fn documents() -> [Document; Endpoint::ALL.len()] {
            [$($module::Document::openapi()),*]
        }
    };
}

endpoints! {
    CheckStatus = check_status { own_errors: Some(check_status::refuse), ..AGENTS };
    PostStatus = post_status { own_errors: Some(post_status::refuse), ..AGENTS };
    Graph = graph { ..PEOPLE };
    Locks = locks { served_with: Some("graph"), ..PEOPLE };
    Activity = activity { served_with: Some("graph"), ..PEOPLE };
    Events = events { is_compressed: false, ..PEOPLE };
    Intents = intents { methods: "GET, HEAD, POST", ..AGENTS };
    Intent = intent at "/api/intents/{id}" { methods: "GET, HEAD, PATCH", served_with: Some("intents"), ..AGENTS };
    IntentSelect = intent_select at "/api/intents/{id}/select" { served_with: Some("intents"), ..AGENTS };
    IntentComplete = intent_complete at "/api/intents/{id}/complete" { served_with: Some("intents"), ..AGENTS };
    IntentAbandon = intent_abandon at "/api/intents/{id}/abandon" { served_with: Some("intents"), ..AGENTS };
    IntentBlock = intent_block at "/api/intents/{id}/block" { served_with: Some("intents"), ..AGENTS };
    IntentUnblock = intent_unblock at "/api/intents/{id}/unblock" { served_with: Some("intents"), ..AGENTS };
    IntentAllow = intent_allow at "/api/intents/{id}/allow" { served_with: Some("intents"), ..AGENTS };
    IntentTakeOver = intent_take_over at "/api/intents/{id}/take_over" { served_with: Some("intents"), ..AGENTS };
    IntentUsage = intent_usage at "/api/intents/{id}/usage" { served_with: Some("intents"), ..AGENTS };
    Ledger = ledger { methods: "GET, HEAD, POST", served_with: Some("intents"), is_compressed: true, ..AGENTS };
    LedgerCheckpoint = ledger_checkpoint at "/api/ledger/checkpoint" {
        methods: "GET, HEAD", served_with: Some("intents"), ..AGENTS
    };
    LedgerVerify = ledger_verify at "/api/ledger/verify" { served_with: Some("intents"), ..AGENTS };
    LedgerMap = ledger_map at "/api/ledger/map" {
        methods: "GET, HEAD", served_with: Some("intents"), is_compressed: true, ..AGENTS
    };
    Teams = teams { methods: "GET, HEAD, POST", ..AGENTS };
    Team = team at "/api/teams/{team}" { methods: "GET, HEAD, PATCH, DELETE", served_with: Some("teams"), ..AGENTS };
    TeamJoin = team_join at "/api/teams/{team}/join" { served_with: Some("teams"), ..AGENTS };
    TeamLeave = team_leave at "/api/teams/{team}/leave" { served_with: Some("teams"), ..AGENTS };
    TeamShutdown = team_shutdown at "/api/teams/{team}/shutdown" { served_with: Some("teams"), ..AGENTS };
    Tasks = tasks { methods: "GET, HEAD, POST", served_with: Some("teams"), is_compressed: true, ..AGENTS };
    TaskNext = task_next at "/api/tasks/next" { served_with: Some("teams"), ..AGENTS };
    Task = task at "/api/tasks/{id}" { methods: "GET, HEAD, PATCH, DELETE", served_with: Some("teams"), ..AGENTS };
    TaskClaim = task_claim at "/api/tasks/{id}/claim" { served_with: Some("teams"), ..AGENTS };
    TaskComplete = task_complete at "/api/tasks/{id}/complete" { served_with: Some("teams"), ..AGENTS };
    TaskRelease = task_release at "/api/tasks/{id}/release" { served_with: Some("teams"), ..AGENTS };
    Messages = messages { methods: "GET, HEAD, POST", served_with: Some("teams"), is_compressed: true, ..AGENTS };
    MessagesRead = messages_read at "/api/messages/read" { served_with: Some("teams"), ..AGENTS };
    CronCleanup = cron_cleanup { extra_time: HALF_A_MINUTE, function_seconds: 60, ..OPERATORS };
    Health = health { ..OPERATORS };
    GithubWebhook = github_webhook {
        methods: "POST", function_seconds: 300, defers_work: true, takes_any_host: true, ..OPERATORS
    };
    Mcp = mcp { ..AGENTS };
    McpMetadata = mcp_metadata at "/.well-known/oauth-protected-resource/api/mcp" {
        served_with: Some("mcp"), function_seconds: 300, defers_work: true, ..OPERATORS
    };
}

impl Endpoint {
    /// Its row of the table.
    pub fn route(self) -> &'static Route {
        &ROUTES[self as usize]
    }

    /// The endpoint with this path, in which something else than a slash stands for a name in braces. Where two have it, the first.
    pub fn at(path: &str) -> Option<Endpoint> {
        let is_same = |(own, asked): (&str, &str)| own == asked || (own.starts_with('{') && !asked.is_empty());
        Endpoint::ALL.into_iter().find(|endpoint| {
            let own = endpoint.path();
            own.split('/').count() == path.split('/').count() && own.split('/').zip(path.split('/')).all(is_same)
        })
    }

    /// Its path, with the parameters in braces.
    pub fn path(self) -> &'static str {
        self.route().path
    }

    /// Time that an answer may take beyond that of every endpoint.
    pub fn extra_time(self) -> Duration {
        self.route().extra_time
    }

    /// All that its function serves: itself, and the endpoints that `vercel.json` rewrites to it.
    pub fn of_function(self) -> Vec<Endpoint> {
        let function = self.route().function();
        let is_served = |endpoint: &Endpoint| endpoint.route().function() == function;
        Endpoint::ALL.into_iter().filter(is_served).collect()
    }
}
