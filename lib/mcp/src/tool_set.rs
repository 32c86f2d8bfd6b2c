//! Tools and resources, as the heart has them and extensions register them.

use std::sync::OnceLock;

use axum::http::Uri;
use coord_http::{Session, ToolGroup};
use futures::future::BoxFuture;
use rmcp::model::{CallToolResult, Tool as Definition};

use super::offer::Offer;
use coord_server::error::ApiError;

/// The result of a call. An error says that the place of the repository did not take the caller's credential.
pub type CallResult<'a> = BoxFuture<'a, Result<CallToolResult, ApiError>>;

/// A tool.
pub struct Tool {
    pub name: &'static str,
    /// It is offered with one of these.
    groups: &'static [ToolGroup],
    define: fn(&'static str, Offer) -> Definition,
    /// Calls it with arguments, a JSON object.
    pub call: for<'a> fn(&'a Session, &'a str) -> CallResult<'a>,
    /// Its definitions for a deployment and for a working copy.
    definitions: [OnceLock<Definition>; 2],
}

impl Tool {
    /// The tool `name` of `groups`, which `define` defines for clients of an offer.
    pub const fn new(
        name: &'static str,
        groups: &'static [ToolGroup],
        define: fn(&'static str, Offer) -> Definition,
        call: for<'a> fn(&'a Session, &'a str) -> CallResult<'a>,
    ) -> Self {
        Tool {
            name,
            groups,
            define,
            call,
            definitions: [const { OnceLock::new() }; 2],
        }
    }

    /// Whether it is offered with one of `groups`.
    pub(super) fn is_of(&self, groups: &[ToolGroup]) -> bool {
        self.groups.iter().any(|group| groups.contains(group))
    }

    pub(super) fn definition(&self, offer: Offer) -> &Definition {
        let [deployment, working_copy] = &self.definitions;
        let definition = match offer {
            Offer::Deployment => deployment,
            Offer::WorkingCopy => working_copy,
        };
        definition.get_or_init(|| (self.define)(self.name, offer))
    }
}

/// The content of a resource.
pub type Content<'a> = BoxFuture<'a, Result<String, ApiError>>;

/// Resources of one kind.
pub struct ResourceType {
    /// `KIND` of `coord://KIND` or `coord://KIND/NAME`.
    pub kind: &'static str,
    /// Its template, with the repository.
    pub template: &'static str,
    /// Name, title and description, as listed for clients.
    pub words: [&'static str; 3],
    /// The endpoint that has it; one that ends with `/` takes the name behind it.
    pub endpoint: &'static str,
    /// Whether it depends on the agent that asks.
    pub is_of_agent: bool,
    /// Reads it: by its name, which is empty where it has none, and the query of its URI.
    pub read: for<'a> fn(&'a Session, String, &'a Uri) -> Content<'a>,
}

impl ResourceType {
    /// Whether `coord://KIND/NAME` names one.
    pub(super) fn is_named(&self) -> bool {
        self.template.contains("/{")
    }
}

/// The tools, resources and rules of an extension.
pub struct ToolSet {
    pub tools: &'static [Tool],
    pub resources: &'static [ResourceType],
    /// Rules for agents.
    pub rules: &'static [&'static str],
}

/// The extensions whose tools a build has.
pub type ToolSets = &'static [&'static ToolSet];
