//! The SDK's requests. The SDK answers every other method with `method_not_found`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use coord_runtime::mutex::lock;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, DiscoverResult,
    ErrorCode, GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig,
    SubscriptionFilter, Tool as ToolDefinition,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};
use tokio::sync::{mpsc, oneshot};

use super::tool_host::ToolHost;
use super::tool_set::{Tool, ToolGroup, ToolSets};
use super::tools::tools_in;
use super::{instructions, resource_list};

/// How long clients may keep a list of tools that follows the repository, in milliseconds.
const SELECTION_TTL_MS: u64 = 60_000;

/// How long clients may keep the other lists, in milliseconds. Only a new version of the server changes them.
const LISTS_TTL_MS: u64 = 3_600_000;

/// The SDK's request to the owner of the state.
pub enum SdkRequest {
    /// The client calls a tool.
    Call {
        tool: &'static Tool,
        arguments: String,
        client: Option<String>,
        reply: oneshot::Sender<CallToolResult>,
    },
    /// The client reads a resource.
    Read {
        /// The URI as the client sent it.
        uri: String,
        client: Option<String>,
        reply: oneshot::Sender<Result<ReadResourceResult, ErrorData>>,
    },
    /// The client lists the tools, or they may have changed. The reply has the groups that the repository needs.
    Groups {
        /// Whether the receiver must look at the repository again.
        is_anew: bool,
        reply: oneshot::Sender<Vec<ToolGroup>>,
    },
    /// The client subscribes to changes. The reply is the number of events, once it differs from `seen`.
    Change {
        /// The number of events that the client has seen.
        seen: Option<u64>,
        reply: oneshot::Sender<u64>,
    },
    /// The client has listed the folders that it works in. The reply comes once the receiver has noted them.
    Roots {
        uris: Vec<String>,
        reply: oneshot::Sender<()>,
    },
}

/// Which tools the server lists.
pub enum ToolSelection {
    /// The tools of these groups.
    Chosen(Vec<ToolGroup>),
    /// The tools that the repository needs. A client can call all default tools.
    AsNeeded,
}

/// The instructions file that has the rules, by the client's name. `None` if the client reads no such file.
pub type RulesFile = Box<dyn Fn(&str) -> Option<&'static str> + Send + Sync>;

/// The resources that a client can subscribe to. Any event may change them.
const SUBSCRIBABLE_PREFIX: &str = "coord://";

/// Least time between two notifications of one client.
const NOTIFICATION_PAUSE: Duration = Duration::from_secs(1);

/// How long a client has to list its folders.
const ROOTS_TIMEOUT: Duration = Duration::from_secs(2);

/// The server for the SDK: over HTTP for one request, over stdio for a session.
pub struct Server {
    sets: ToolSets,
    host: ToolHost,
    selection: ToolSelection,
    /// The groups in the last list that the client got.
    listed_groups: Mutex<Option<Vec<ToolGroup>>>,
    rules_file: RulesFile,
    requests: mpsc::Sender<SdkRequest>,
    /// Whether the server asks the client for its folders before the next call.
    asks_roots: AtomicBool,
}

impl Server {
    /// A server of the core and `sets`. The receiver of `requests` answers calls and reads.
    pub fn new(
        sets: ToolSets,
        host: ToolHost,
        selection: ToolSelection,
        rules_file: RulesFile,
        requests: mpsc::Sender<SdkRequest>,
    ) -> Self {
        Server {
            sets,
            host,
            selection,
            listed_groups: Mutex::default(),
            rules_file,
            requests,
            asks_roots: AtomicBool::new(false),
        }
    }

    /// With `asks`, the server asks a client that supports it for the folders that it works in.
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
        reason = "the protocol will drop this request, but editors have no other way to list their folders"
    )]
    async fn ask_roots(&self, context: &RequestContext<RoleServer>) {
        if !self.asks_roots.swap(false, Ordering::AcqRel) {
            return;
        }
        let capabilities = context.client_capabilities();
        if capabilities.is_none_or(|capabilities| capabilities.roots.is_none()) {
            return;
        }
        match tokio::time::timeout(ROOTS_TIMEOUT, context.peer.list_roots()).await {
            Ok(Ok(list)) => {
                let uris = list.roots.into_iter().map(|root| root.uri).collect();
                // The call continues without the folders, too.
                let _ = self.ask(|reply| SdkRequest::Roots { uris, reply }).await;
            }
            Ok(Err(error)) => tracing::debug!(%error, "the client does not list its folders"),
            Err(_) => tracing::debug!("the client does not list its folders in time"),
        }
    }

    /// The definitions of the tools of `groups`.
    fn definitions<'g>(&self, groups: &'g [ToolGroup]) -> impl Iterator<Item = &'static ToolDefinition> + use<'g> {
        let host = self.host;
        tools_in(self.sets, groups).map(move |tool| tool.definition(host))
    }

    /// The groups whose tools a client can call.
    fn callable_groups(&self) -> Vec<ToolGroup> {
        match &self.selection {
            ToolSelection::Chosen(groups) => groups.clone(),
            ToolSelection::AsNeeded => ToolGroup::defaults(self.sets),
        }
    }

    /// The groups whose tools the server lists now.
    async fn current_groups(&self, is_anew: bool) -> Result<Vec<ToolGroup>, ErrorData> {
        match &self.selection {
            ToolSelection::Chosen(groups) => Ok(groups.clone()),
            ToolSelection::AsNeeded => self.ask(|reply| SdkRequest::Groups { is_anew, reply }).await,
        }
    }

    /// The instructions for `client`. If the client reads a file with the rules, they refer to that file.
    fn instructions_for(&self, client: &str, rules: Option<String>) -> Option<String> {
        let rules = rules?;
        Some((self.rules_file)(client).map_or(rules, instructions::in_file))
    }

    /// Whether the list of tools has changed since the client got it.
    async fn has_new_list(&self) -> bool {
        let listed = lock(&self.listed_groups).clone();
        let Some(listed) = listed else { return false };
        matches!(self.selection, ToolSelection::AsNeeded)
            && self.current_groups(false).await.is_ok_and(|groups| groups != listed)
    }

    /// Asks the receiver to answer a request.
    async fn ask<T>(&self, request: impl FnOnce(oneshot::Sender<T>) -> SdkRequest) -> Result<T, ErrorData> {
        // The receiver ends before it answers only if its caller has disconnected.
        let canceled = || ErrorData::internal_error("the request was canceled", None);
        let (reply, answer) = oneshot::channel();
        self.requests.send(request(reply)).await.map_err(|_| canceled())?;
        answer.await.map_err(|_| canceled())
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_resources()
            .enable_tools()
            .build();
        if self.host == ToolHost::WorkingCopy {
            capabilities = ServerCapabilities::builder()
                .enable_prompts()
                .enable_resources()
                .enable_resources_subscribe()
                .enable_tools()
                .enable_tool_list_changed()
                .build();
        }
        let mut server = Implementation::new("coord", env!("CARGO_PKG_VERSION"));
        server.title = Some("Coord".to_owned());
        server.description = Some("Keeps coding agents out of each other's way".to_owned());
        let config = ServerConfig::new(capabilities).with_server_info(server);
        // The rules are only about files.
        match self.callable_groups().contains(&ToolGroup::LOCKS) {
            true => config.with_instructions(instructions::rules(self.sets, self.host)),
            false => config,
        }
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut answer = DiscoverResult::from_server_info(versions, self.get_info());
        let client = client_name(&context);
        answer.instructions = self.instructions_for(client.as_deref().unwrap_or_default(), answer.instructions);
        Ok(answer)
    }

    /// A client that initializes a session has an older revision of the protocol, so it cannot subscribe.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut answer = self.negotiate_initialize(&request)?;
        if let Some(resources) = &mut answer.capabilities.resources {
            resources.subscribe = None;
        }
        answer.instructions = self.instructions_for(&request.client_info.name, answer.instructions);
        Ok(answer)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        if self.host == ToolHost::Deployment {
            return None;
        }
        let uris = requested.resource_subscriptions.iter().flatten();
        let uris = uris.filter(|uri| uri.starts_with(SUBSCRIBABLE_PREFIX));
        let mut accepted = SubscriptionFilter::new();
        accepted.tools_list_changed = requested.tools_list_changed;
        accepted.resource_subscriptions = Some(uris.cloned().collect());
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let sink = context.sink();
        let mut seen = Some(self.ask(|reply| SdkRequest::Change { seen: None, reply }).await?);
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                count = self.ask(|reply| SdkRequest::Change { seen, reply }) => seen = Some(count?),
            }
            let accepted = sink.accepted().clone();
            if accepted.tools_list_changed == Some(true) && self.has_new_list().await {
                let result = sink.notify_tool_list_changed().await;
                result.map_err(|error| subscription_ended(&error))?;
            }
            for uri in accepted.resource_subscriptions.into_iter().flatten() {
                let result = sink.notify_resource_updated(uri).await;
                result.map_err(|error| subscription_ended(&error))?;
            }
            tokio::time::sleep(NOTIFICATION_PAUSE).await;
        }
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let groups = self.current_groups(true).await?;
        let tools = self.definitions(&groups).cloned().collect();
        *lock(&self.listed_groups) = Some(groups);
        let (ttl, scope) = match self.selection {
            ToolSelection::Chosen(_) => (LISTS_TTL_MS, CacheScope::Public),
            ToolSelection::AsNeeded => (SELECTION_TTL_MS, CacheScope::Private),
        };
        Ok(ListToolsResult::with_all_items(tools)
            .with_ttl_ms(ttl)
            .with_cache_scope(scope))
    }

    fn get_tool(&self, name: &str) -> Option<ToolDefinition> {
        let groups = self.callable_groups();
        self.definitions(&groups).find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let groups = self.callable_groups();
        let Some(tool) = tools_in(self.sets, &groups).find(|tool| tool.name == request.name) else {
            let tools = tools_in(self.sets, &groups);
            let names: Vec<&str> = tools.map(|tool| tool.name).collect();
            let sentence = format!("there is no such tool; the tools are {}", names.join(", "));
            return Err(ErrorData::invalid_params(sentence, None));
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
        let result = result.await?;
        if context.peer.peer_info().is_some() && self.has_new_list().await {
            // A client that misses this continues with the tools that it has.
            let _ = context.peer.notify_tool_list_changed().await;
        }
        Ok(result.into())
    }

    /// Refuses a method that the SDK does not support, or whose parameters it cannot read.
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
        // Each resource belongs to a repository that the caller names, so the server only lists templates.
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
            ListResourceTemplatesResult::with_all_items(resource_list::templates(self.sets, self.host))
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
        Ok(ListPromptsResult::with_all_items(vec![instructions::prompt(self.host)])
            .with_ttl_ms(LISTS_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        Ok(instructions::coordinate(self.sets, self.host, &request.name, &arguments)?.into())
    }
}

fn client_name(context: &RequestContext<RoleServer>) -> Option<String> {
    context.client_info().map(|client| client.name)
}

fn subscription_ended(error: &impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(format!("the subscription has ended: {error}"), None)
}
