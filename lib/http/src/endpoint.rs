//! The tables of routes: path, audience, and function of each endpoint. The router, the edge, the host guard and the
//! OpenAPI document read them, and the settings of the platform are generated from them (`tests/api/platform.rs`). Each
//! extension has its own table, by [`crate::endpoints`].

use std::fmt;
use std::time::Duration;

use super::route::Route;

mod activity;
mod check_status;
mod cron_cleanup;
mod events;
mod github_webhook;
mod graph;
mod health;
mod locks;
mod mcp;
mod mcp_metadata;
mod post_status;

pub use mcp::{Protocol, Session};
pub use {activity::ActivityQuery, graph::GraphQuery, graph::read_graph_view, locks::LocksQuery};

const AGENTS: Route = Route::FOR_AGENTS;
const PEOPLE: Route = Route::FOR_PEOPLE;
const OPERATORS: Route = Route::FOR_OPERATORS;
const HALF_A_MINUTE: Duration = Duration::from_secs(30);

/// Declares a constant for each [`Endpoint`] of a module, their list `ENDPOINTS`, and `documents()`, their parts of the
/// OpenAPI document. The path defaults to `/api/` and the name of the endpoint's module. Each endpoint's module has
/// `serve`, its methods, and `Document`, which is not in the table, so that functions are built without it.
#[macro_export]
macro_rules! endpoints {
    ($($name:ident = $module:ident $(at $path:literal)? { $($field:ident: $value:expr,)* ..$kind:ident };)*) => {
        $(
            #[doc = concat!("`", $crate::path_of!($module $($path)?), "`")]
            pub const $name: $crate::Endpoint = {
                static ROUTE: $crate::Route = $crate::Route {
                    name: stringify!($module),
                    path: $crate::path_of!($module $($path)?),
                    serve: $module::serve,
                    $($field: $value,)*
                    ..$kind
                };
                $crate::Endpoint::of(&ROUTE)
            };
        )*

        pub static ENDPOINTS: &[$crate::Endpoint] = &[$($name),*];

        /// The endpoints' parts of the OpenAPI document.
        pub fn documents() -> Vec<utoipa::openapi::OpenApi> {
            vec![$(<$module::Document as utoipa::OpenApi>::openapi()),*]
        }
    };
}

/// The path of an endpoint in [`crate::endpoints`].
#[doc(hidden)]
#[macro_export]
macro_rules! path_of {
    ($module:ident) => {
        concat!("/api/", stringify!($module))
    };
    ($module:ident $path:literal) => {
        $path
    };
}

endpoints! {
    CHECK_STATUS = check_status { own_errors: Some(check_status::refuse), ..AGENTS };
    POST_STATUS = post_status { own_errors: Some(post_status::refuse), ..AGENTS };
    GRAPH = graph { ..PEOPLE };
    LOCKS = locks { served_with: Some("graph"), ..PEOPLE };
    ACTIVITY = activity { served_with: Some("graph"), ..PEOPLE };
    EVENTS = events { is_compressed: false, ..PEOPLE };
}

/// The endpoints of operators, and MCP, which has the tools of all extensions.
pub mod operation {
    use super::{AGENTS, HALF_A_MINUTE, OPERATORS, cron_cleanup, github_webhook, health, mcp, mcp_metadata};

    endpoints! {
        CRON_CLEANUP = cron_cleanup { extra_time: HALF_A_MINUTE, function_seconds: 60, ..OPERATORS };
        HEALTH = health { ..OPERATORS };
        GITHUB_WEBHOOK = github_webhook {
            methods: "POST", function_seconds: 300, defers_work: true, takes_any_host: true, ..OPERATORS
        };
        MCP = mcp { ..AGENTS };
        MCP_METADATA = mcp_metadata at "/.well-known/oauth-protected-resource/api/mcp" {
            served_with: Some("mcp"), function_seconds: 300, defers_work: true, ..OPERATORS
        };
    }
}

/// An endpoint. A function serves one endpoint and those that are served with it; `coord serve` serves all.
#[derive(Clone, Copy)]
pub struct Endpoint(&'static Route);

impl PartialEq for Endpoint {
    fn eq(&self, other: &Self) -> bool {
        self.0.path == other.0.path
    }
}

impl Eq for Endpoint {}

impl fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.path)
    }
}

impl Endpoint {
    /// The endpoint of a row of the table.
    pub const fn of(route: &'static Route) -> Self {
        Endpoint(route)
    }

    /// The endpoint's row of the table.
    pub fn route(self) -> &'static Route {
        self.0
    }

    /// The first of `endpoints` that has this path. A parameter in braces matches any segment that is not empty.
    pub fn at(endpoints: &[Endpoint], path: &str) -> Option<Endpoint> {
        let matches =
            |(own, requested): (&str, &str)| own == requested || (own.starts_with('{') && !requested.is_empty());
        endpoints.iter().copied().find(|endpoint| {
            let own = endpoint.path();
            own.split('/').count() == path.split('/').count() && own.split('/').zip(path.split('/')).all(matches)
        })
    }

    /// The path, with the parameters in braces.
    pub fn path(self) -> &'static str {
        self.route().path
    }

    /// Time that a response may take beyond the limit of other endpoints.
    pub fn extra_time(self) -> Duration {
        self.route().extra_time
    }

    /// All of `endpoints` that this endpoint's function serves: itself, and those that `vercel.json` rewrites to it.
    pub fn of_function(self, endpoints: &[Endpoint]) -> Vec<Endpoint> {
        let function = self.route().function();
        let is_served = |endpoint: &Endpoint| endpoint.route().function() == function;
        endpoints.iter().copied().filter(is_served).collect()
    }
}
