//! Tools and resources of the core and of extensions, and the groups by which callers select tools.

use std::sync::OnceLock;

use axum::http::Uri;
use coord_http::Session;
use futures::future::BoxFuture;
use rmcp::model::{CallToolResult, Tool as Definition};

use super::tool_host::ToolHost;
use coord_server::error::ApiError;

/// The result of a call. An error means that the repository's source refused the caller's credential.
pub type CallResult<'a> = BoxFuture<'a, Result<CallToolResult, ApiError>>;

/// The name of tools that are offered together, by which a caller selects them: `?tools=locks,tasks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolGroup(pub &'static str);

/// A group that callers can select.
pub struct SelectableGroup {
    pub group: ToolGroup,
    /// Whether the group is offered to callers that select none.
    pub is_default: bool,
    /// The groups that it stands for. Callers cannot select it beside one of them.
    pub replaces: &'static [ToolGroup],
}

pub struct Tool {
    pub name: &'static str,
    /// A server with one of these groups has the tool.
    groups: &'static [ToolGroup],
    define: fn(&'static str, ToolHost) -> Definition,
    /// Calls the tool. The arguments are a JSON object.
    pub call: for<'a> fn(&'a Session, &'a str) -> CallResult<'a>,
    /// The definitions for a deployment and for a working copy.
    definitions: [OnceLock<Definition>; 2],
}

impl Tool {
    pub const fn new(
        name: &'static str,
        groups: &'static [ToolGroup],
        define: fn(&'static str, ToolHost) -> Definition,
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

    pub(super) fn is_in(&self, groups: &[ToolGroup]) -> bool {
        self.groups.iter().any(|group| groups.contains(group))
    }

    pub(super) fn definition(&self, host: ToolHost) -> &Definition {
        let [deployment, working_copy] = &self.definitions;
        let definition = match host {
            ToolHost::Deployment => deployment,
            ToolHost::WorkingCopy => working_copy,
        };
        definition.get_or_init(|| (self.define)(self.name, host))
    }
}

/// The content of a resource.
pub type Content<'a> = BoxFuture<'a, Result<String, ApiError>>;

/// Resources of one kind.
pub struct ResourceType {
    /// `KIND` of `coord://KIND` or `coord://KIND/NAME`.
    pub kind: &'static str,
    /// The template of the URI, with the repository.
    pub template: &'static str,
    /// The name, title and description in the list for clients.
    pub words: [&'static str; 3],
    /// The endpoint of the resource. The name follows a final `/`.
    pub endpoint: &'static str,
    /// Whether the content depends on the agent that reads it.
    pub depends_on_agent: bool,
    /// Reads the resource with this name and URI. The name is empty if the type has no names.
    pub read: for<'a> fn(&'a Session, String, &'a Uri) -> Content<'a>,
}

impl ResourceType {
    /// Whether resources of this type have names: `coord://KIND/NAME`.
    pub(super) fn has_names(&self) -> bool {
        self.template.contains("/{")
    }
}

/// The tools, resources and rules of an extension.
pub struct ToolSet {
    /// The groups that callers can select.
    pub groups: &'static [SelectableGroup],
    pub tools: &'static [Tool],
    pub resources: &'static [ResourceType],
    /// Rules for agents.
    pub rules: &'static [&'static str],
}

/// The extensions whose tools a build has.
pub type ToolSets = &'static [&'static ToolSet];
