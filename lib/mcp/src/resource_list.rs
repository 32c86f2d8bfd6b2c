//! The list of resources for clients.

use coord_http::{ActivityQuery, GraphQuery, LocksQuery, read_graph_view};
use futures::FutureExt;
use rmcp::model::ResourceTemplate;

use super::contents::{as_json, parse_query};
use super::tool_host::ToolHost;
use super::tool_set::{ResourceType, ToolSets};
use coord_server::operations::{list_activity, list_locks};

pub const JSON: &str = "application/json";

/// The kind of the locks of a repository.
pub const LOCKS: &str = "locks";

/// The kind of the neighbors of a file.
pub const GRAPH: &str = "graph";

static CORE: [ResourceType; 2] = [
    ResourceType {
        kind: LOCKS,
        template: "coord://locks{?repo_url,branch,holder,agent_id}",
        words: [
            "locks",
            "Who holds what",
            "The locks of a repository, or of one branch; holder=me: yours alone",
        ],
        endpoint: "api/locks",
        depends_on_agent: false,
        read: |session, _, uri| {
            async move {
                let query = parse_query::<LocksQuery>(uri)?;
                let request = query.parse(session.caller.clone(), session.agent.as_deref())?;
                as_json(&list_locks(&session.app, request).await?)
            }
            .boxed()
        },
    },
    ResourceType {
        kind: "activity",
        template: "coord://activity{?repo_url,branch,after,limit}",
        words: [
            "activity",
            "What happened",
            "The newest 50 events of a repository, or of one branch: claims, releases, refusals, pushes",
        ],
        endpoint: "api/activity",
        depends_on_agent: false,
        read: |session, _, uri| {
            async move {
                let query = parse_query::<ActivityQuery>(uri)?;
                let request = query.parse(session.caller.clone(), session.agent.as_deref())?;
                as_json(&list_activity(&session.app, request).await?)
            }
            .boxed()
        },
    },
];

/// The list has this type after those of extensions.
static FILE_GRAPH: ResourceType = ResourceType {
    kind: GRAPH,
    template: "coord://graph/{+path}{?repo_url,branch,depth,direction}",
    words: [
        "graph",
        "Neighbors of a file",
        "Files that import a file or that it imports, with their locks; direction: imports, importers or both",
    ],
    endpoint: "api/graph",
    depends_on_agent: false,
    read: |session, path, uri| {
        async move {
            let query = parse_query::<GraphQuery>(uri)?.around(path);
            read_graph_view(&session.app, &query, session.caller.clone()).await
        }
        .boxed()
    },
};

pub(super) fn resource_types(sets: ToolSets) -> impl Iterator<Item = &'static ResourceType> {
    let of_sets = sets.iter().flat_map(|set| set.resources);
    CORE.iter().chain(of_sets).chain([&FILE_GRAPH])
}

pub(super) fn templates(sets: ToolSets, host: ToolHost) -> Vec<ResourceTemplate> {
    let template = |resource_type: &ResourceType| {
        let [name, title, description] = resource_type.words;
        ResourceTemplate::new(host.uri_template(resource_type.template), name)
            .with_title(title)
            .with_description(description)
            .with_mime_type(JSON)
    };
    resource_types(sets).map(template).collect()
}
