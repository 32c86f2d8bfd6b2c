//! Resources: the server's GET endpoints. Repository, branch and agent are filled in if the URI lacks them.

use coord_domain::team::TaskId;
use coord_mcp::{GRAPH, JSON, LOCKS, Resource, no_such_resource, to_json_rpc_error};
use coord_server::error::ApiError;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, ResourceContents};
use url::form_urlencoded;

use super::backend::Failure;
use super::proxy::Proxy;
use super::target::CallOrigin;

impl Proxy {
    /// The content of the resource `uri`. `client` is the client's name.
    ///
    /// # Errors
    /// When there is no such resource, or the server does not answer.
    pub async fn read(&self, uri: &str, client: Option<&str>) -> Result<ReadResourceResult, ErrorData> {
        self.note_call();
        match self.contents(uri, client).await {
            Ok(Some(text)) => {
                let contents = ResourceContents::text(text, uri).with_mime_type(JSON);
                Ok(ReadResourceResult::new(vec![contents]))
            }
            Ok(None) => Err(no_such_resource(uri)),
            Err(failure) => Err(to_json_rpc_error(&failure.for_agent(), uri)),
        }
    }

    async fn contents(&self, uri: &str, client: Option<&str>) -> Result<Option<String>, Failure> {
        let Some(resource) = Resource::named_by(coord_tools::SETS, uri)? else {
            return Ok(None);
        };
        let (resource_type, name, uri) = (resource.resource_type, resource.name, resource.uri);
        let query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        let mut query: Vec<(String, String)> = query.into_owned().collect();
        let value = |name: &str| {
            query
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.as_str())
        };
        let paths = match resource_type.kind {
            GRAPH => vec![name.clone()],
            _ => Vec::new(),
        };
        let target = self.target(
            CallOrigin {
                repo_url: value("repo_url"),
                branch: value("branch"),
                agent_id: value("agent_id"),
                paths: &paths,
            },
            client,
        )?;
        let mut missing = Vec::new();
        if let (None, Some(work)) = (value("repo_url"), &target.work) {
            missing.push(("repo_url".to_owned(), work.repo_url()));
        }
        let is_own_locks = resource_type.kind == LOCKS && value("holder") == Some("me");
        if (resource_type.depends_on_agent || is_own_locks) && value("agent_id").is_none() {
            missing.push(("agent_id".to_owned(), target.agent_id.clone()));
        }
        if resource_type.kind == GRAPH {
            if let (None, Some(work)) = (value("branch"), &target.work) {
                missing.push(("branch".to_owned(), work.branch.to_string()));
            }
            missing.extend(target.paths.first().map(|path| ("focus".to_owned(), path.clone())));
        }
        let endpoint = resource_type.endpoint;
        let path = match endpoint.ends_with('/') {
            true => &path_below(endpoint, &name)?,
            false => endpoint,
        };
        query.append(&mut missing);
        let query: Vec<(&str, &str)> = query
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let response = self
            .backend
            .ask(&target.root, async |client| client.read(path, &query).await);
        Ok(Some(response.await?.get().to_owned()))
    }
}

/// The path of the task `name` below `endpoint`. A parsed name cannot change the path in another way.
fn path_below(endpoint: &str, name: &str) -> Result<String, ApiError> {
    match TaskId::parse(name) {
        Ok(_) => Ok(format!("{endpoint}{name}")),
        Err(invalid) => Err(ApiError::InvalidField {
            field: "path",
            problem: invalid.to_string(),
        }),
    }
}
