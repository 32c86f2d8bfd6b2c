//! An endpoint's row in the table of routes.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use axum::routing::MethodRouter;

use crate::error::Respond;
use coord_server::app::App;
use coord_server::error::ApiError;

/// The callers of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Agents: every error has an orchestration command.
    Agent,
    /// People, on a page.
    Person,
    /// The service's own machinery, which has a separate secret or needs none.
    Operator,
}

impl Audience {
    /// The tag in the OpenAPI document.
    pub fn tag(self) -> &'static str {
        match self {
            Audience::Agent => "agents",
            Audience::Person => "people",
            Audience::Operator => "operation",
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The name of the endpoint's module.
    pub name: &'static str,
    pub path: &'static str,
    /// The methods, as in the header `Allow`.
    pub methods: &'static str,
    pub audience: Audience,
    /// Time that a response may take beyond the limit of other endpoints.
    pub extra_time: Duration,
    /// The name of the endpoint whose function also serves this one. Without it, the endpoint has its own function in
    /// `api/`.
    pub served_with: Option<&'static str>,
    /// Seconds that the function may run.
    pub function_seconds: u32,
    /// Whether the function continues to work after the response.
    pub defers_work: bool,
    /// Whether responses are compressed.
    pub is_compressed: bool,
    /// Whether requests with any `Host` are accepted: a delivery may come through a tunnel with another name, and is
    /// signed.
    pub takes_any_host: bool,
    /// The response to an error, if it differs from that of other endpoints with this audience.
    pub own_errors: Option<fn(&ApiError) -> Response>,
    pub serve: fn(&App) -> MethodRouter<Arc<App>>,
}

impl Route {
    /// Defaults of endpoints of agents, without a name and a handler.
    pub const FOR_AGENTS: Route = Route {
        name: "",
        path: "",
        methods: "POST",
        audience: Audience::Agent,
        extra_time: Duration::ZERO,
        served_with: None,
        function_seconds: 300,
        defers_work: true,
        is_compressed: false,
        takes_any_host: false,
        own_errors: None,
        serve: |_| MethodRouter::new(),
    };

    /// Defaults of endpoints of people.
    pub const FOR_PEOPLE: Route = Route {
        methods: "GET, HEAD",
        audience: Audience::Person,
        is_compressed: true,
        ..Route::FOR_AGENTS
    };

    /// Defaults of endpoints of operators.
    pub const FOR_OPERATORS: Route = Route {
        methods: "GET, HEAD",
        audience: Audience::Operator,
        function_seconds: 10,
        defers_work: false,
        ..Route::FOR_AGENTS
    };

    /// The function that serves the endpoint: the name of its file in `api/`.
    pub fn function(&self) -> &'static str {
        self.served_with.unwrap_or(self.name)
    }

    /// The response to a request that fails with `error`: agents get an orchestration command.
    pub fn refuse(&self, error: &ApiError) -> Response {
        match (self.own_errors, self.audience) {
            (Some(own_errors), _) => own_errors(error),
            (None, Audience::Agent) => error.respond_to_agent(),
            (None, Audience::Person | Audience::Operator) => error.respond_to_person(),
        }
    }
}
