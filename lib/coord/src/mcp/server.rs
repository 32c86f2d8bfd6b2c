//! What the SDK asks of us. Methods that are not here are answered `method_not_found` by the SDK.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ServerCapabilities, ServerConfig, Tool as ToolDefinition,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use tokio::sync::{mpsc, oneshot};

use super::offer::Offer;
use super::tools::{Tool, ToolGroup, offered};
use super::{instructions, resource_list};

/// How long clients may keep the lists, in milliseconds: they change with the version of the server alone.
const LISTS_TTL_MS: u64 = 3_600_000;

/// What the SDK asks of whoever has the state.
pub enum SdkRequest {
    /// A tool is called.
    Call {
        /// The tool.
        tool: Tool,
        /// A JSON object.
        arguments: String,
        /// What the client calls itself.
        client: Option<String>,
        /// Where the result goes.
        reply: oneshot::Sender<CallToolResult>,
    },
    /// A resource is read.
    Read {
        /// As the client sent it.
        uri: String,
        /// What the client calls itself.
        client: Option<String>,
        /// Where the contents go.
        reply: oneshot::Sender<Result<ReadResourceResult, ErrorData>>,
    },
    /// The client has named the folders that it works in.
    Roots {
        /// Their URIs.
        uris: Vec<String>,
        /// Told once they are noted.
        reply: oneshot::Sender<()>,
    },
}

/// Time that a client has to name its folders.
const ROOTS_TIME: Duration = Duration::from_secs(2);

/// The server as the SDK sees it: over HTTP for one request, over stdio for a session.
pub struct Server {
    offer: Offer,
    groups: Vec<ToolGroup>,
    requests: mpsc::Sender<SdkRequest>,
    /// Whether the client is to be asked for its folders before the next call.
    asks_roots: AtomicBool,
}

impl Server {
    /// A server whose tools, those of `groups`, and resources are answered by the receiver of `requests`.
    pub fn new(offer: Offer, groups: &[ToolGroup], requests: mpsc::Sender<SdkRequest>) -> Self {
        Server {
            offer,
            groups: groups.to_vec(),
            requests,
            asks_roots: AtomicBool::new(false),
        }
    }

    /// The same, which asks the client for the folders that it works in, where it says that it has any.
    #[must_use]
    pub fn asking_roots(self, asks: bool) -> Self {
        Server {
            asks_roots: AtomicBool::new(asks),
            ..self
        }
    }

    /// Asks the client for its folders, once.
    #[expect(
        deprecated,
        reason = "the protocol will drop them, and editors have nothing else to say it by"
    )]
    async fn ask_roots(&self, context: &RequestContext<RoleServer>) {
        if !self.asks_roots.swap(false, Ordering::AcqRel) {
            return;
        }
        let capabilities = context.client_capabilities();
        if capabilities.is_none_or(|capabilities| capabilities.roots.is_none()) {
            return;
        }
        match tokio::time::timeout(ROOTS_TIME, context.peer.list_roots()).await {
            Ok(Ok(listed)) => {
                let uris = listed.roots.into_iter().map(|root| root.uri).collect();
                // Whoever asks is answered all the same.
                let _ = self.ask(|reply| SdkRequest::Roots { uris, reply }).await;
            }
            Ok(Err(error)) => tracing::debug!(%error, "the client does not name its folders"),
            Err(_) => tracing::debug!("the client does not name its folders in time"),
        }
    }

    /// Has the receiver answer a request.
    async fn ask<T>(&self, request: impl FnOnce(oneshot::Sender<T>) -> SdkRequest) -> Result<T, ErrorData> {
        // The receiver goes away before it answers only where its caller has gone.
        let gone = || ErrorData::internal_error("the request was given up", None);
        let (reply, answered) = oneshot::channel();
        self.requests.send(request(reply)).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_resources()
            .enable_tools()
            .build();
        let mut server = Implementation::new("coord", env!("CARGO_PKG_VERSION"));
        server.title = Some("Coord".to_owned());
        server.description = Some("Keeps coding agents out of each other's way".to_owned());
        let config = ServerConfig::new(capabilities).with_server_info(server);
        // They are about files alone.
        match self.groups.contains(&ToolGroup::Locks) {
            true => config.with_instructions(instructions::rules(self.offer)),
            false => config,
        }
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(
            ListToolsResult::with_all_items(offered(self.offer, &self.groups).cloned().collect())
                .with_ttl_ms(LISTS_TTL_MS)
                .with_cache_scope(CacheScope::Public),
        )
    }

    fn get_tool(&self, name: &str) -> Option<ToolDefinition> {
        offered(self.offer, &self.groups)
            .find(|tool| tool.name == name)
            .cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let named = Tool::named(&request.name).filter(|tool| tool.is_of(&self.groups));
        let Some(tool) = named else {
            let names: Vec<&str> = offered(self.offer, &self.groups).map(|tool| &*tool.name).collect();
            let names = names.join(", ");
            return Err(ErrorData::invalid_params(
                format!("there is no such tool; the tools are {names}"),
                None,
            ));
        };
        self.ask_roots(&context).await;
        let arguments = serde_json::Value::Object(request.arguments.unwrap_or_default()).to_string();
        let client = client_name(&context);
        let result = self.ask(|reply| SdkRequest::Call {
            tool,
            arguments,
            client,
            reply,
        });
        Ok(result.await?.into())
    }

    /// A method that the SDK does not know, or one whose parameters it cannot read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if ["tools/call", "resources/read", "prompts/get"].contains(&request.method.as_str()) {
            let sentence = format!("the parameters of {} are malformed", request.method);
            return Err(ErrorData::invalid_params(sentence, None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None))
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        // Each is of a repository, which the caller names.
        Ok(ListResourcesResult::default()
            .with_ttl_ms(LISTS_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(
            ListResourceTemplatesResult::with_all_items(resource_list::templates(self.offer))
                .with_ttl_ms(LISTS_TTL_MS)
                .with_cache_scope(CacheScope::Public),
        )
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.ask_roots(&context).await;
        let (uri, client) = (request.uri, client_name(&context));
        let result = self.ask(|reply| SdkRequest::Read { uri, client, reply }).await??;
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(
            ListPromptsResult::with_all_items(vec![instructions::prompt(self.offer)])
                .with_ttl_ms(LISTS_TTL_MS)
                .with_cache_scope(CacheScope::Public),
        )
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        Ok(instructions::coordinate(self.offer, &request.name, &arguments)?.into())
    }
}

fn client_name(context: &RequestContext<RoleServer>) -> Option<String> {
    context.client_info().map(|client| client.name)
}
