//! The SDK's requests. Methods that are not here are answered `method_not_found` by the SDK.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

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

use super::ToolGroup;
use super::offer::Offer;
use super::tool_set::{Tool, ToolSets};
use super::tools::offered_tools;
use super::{instructions, resource_list};

/// How long clients may keep a list that follows the repository, in milliseconds.
const NEEDED_TTL_MS: u64 = 60_000;

/// How long clients may keep the other lists, in milliseconds: they change with the version of the server alone.
const LISTS_TTL_MS: u64 = 3_600_000;

/// The SDK's request to the owner of the state.
pub enum SdkRequest {
    /// A tool is called.
    Call {
        tool: &'static Tool,
        arguments: String,
        client: Option<String>,
        /// Where the result goes.
        reply: oneshot::Sender<CallToolResult>,
    },
    /// A resource is read.
    Read {
        /// As the client sent it.
        uri: String,
        client: Option<String>,
        /// Where the contents go.
        reply: oneshot::Sender<Result<ReadResourceResult, ErrorData>>,
    },
    /// The tools are listed, or may have changed.
    Groups {
        /// Whether the repository is looked at again.
        is_anew: bool,
        /// Where the groups go that the repository has a use for.
        reply: oneshot::Sender<Vec<ToolGroup>>,
    },
    /// A client subscribes to changes.
    Change {
        /// How often something had happened when it looked last.
        seen: Option<u64>,
        /// Told how often something has happened, once that is another number.
        reply: oneshot::Sender<u64>,
    },
    /// The client has named the folders that it works in.
    Roots {
        uris: Vec<String>,
        /// Told once they are noted.
        reply: oneshot::Sender<()>,
    },
}

/// Which tools are listed.
pub enum ToolSelection {
    /// Those of these groups.
    Chosen(Vec<ToolGroup>),
    /// Those that the repository has a use for. All of the usual ones can be called.
    AsNeeded,
}

/// The file of instructions with the rules, by the client's name; `None` if the client reads none.
pub type RulesFile = Box<dyn Fn(&str) -> Option<&'static str> + Send + Sync>;

/// Resources that a client can subscribe to: any event may change them.
const OBSERVABLE: &str = "coord://";

/// Least time between two notifications of one client.
const PAUSE: Duration = Duration::from_secs(1);

/// Time that a client has to name its folders.
const ROOTS_TIME: Duration = Duration::from_secs(2);

/// The server as the SDK sees it: over HTTP for one request, over stdio for a session.
pub struct Server {
    sets: ToolSets,
    offer: Offer,
    listed: ToolSelection,
    /// The groups that were listed last.
    shown: Mutex<Option<Vec<ToolGroup>>>,
    rules_file: RulesFile,
    requests: mpsc::Sender<SdkRequest>,
    /// Whether the client is to be asked for its folders before the next call.
    asks_roots: AtomicBool,
}

impl Server {
    /// A server of the heart and `sets`, whose tools and resources are answered by the receiver of `requests`.
    pub fn new(
        sets: ToolSets,
        offer: Offer,
        listed: ToolSelection,
        rules_file: RulesFile,
        requests: mpsc::Sender<SdkRequest>,
    ) -> Self {
        Server {
            sets,
            offer,
            listed,
            shown: Mutex::default(),
            rules_file,
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
                // The call is answered anyway.
                let _ = self.ask(|reply| SdkRequest::Roots { uris, reply }).await;
            }
            Ok(Err(error)) => tracing::debug!(%error, "the client does not name its folders"),
            Err(_) => tracing::debug!("the client does not name its folders in time"),
        }
    }

    /// The tools of `groups`, as listed for clients.
    fn definitions<'g>(&self, groups: &'g [ToolGroup]) -> impl Iterator<Item = &'static ToolDefinition> + use<'g> {
        let offer = self.offer;
        offered_tools(self.sets, groups).map(move |tool| tool.definition(offer))
    }

    /// The groups whose tools can be called.
    fn callable(&self) -> &[ToolGroup] {
        match &self.listed {
            ToolSelection::Chosen(groups) => groups,
            ToolSelection::AsNeeded => &ToolGroup::USUAL,
        }
    }

    /// The groups whose tools are listed now.
    async fn groups(&self, is_anew: bool) -> Result<Vec<ToolGroup>, ErrorData> {
        match &self.listed {
            ToolSelection::Chosen(groups) => Ok(groups.clone()),
            ToolSelection::AsNeeded => self.ask(|reply| SdkRequest::Groups { is_anew, reply }).await,
        }
    }

    /// The rules arrive once: as `instructions`, or in the file that `client` reads.
    fn rules_for(&self, client: &str, instructions: Option<String>) -> Option<String> {
        let rules = instructions?;
        Some((self.rules_file)(client).map_or(rules, instructions::elsewhere))
    }

    /// Whether other tools are listed now than the client was shown.
    async fn has_other_tools(&self) -> bool {
        let Some(shown) = self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone() else {
            return false;
        };
        matches!(self.listed, ToolSelection::AsNeeded) && self.groups(false).await.is_ok_and(|groups| groups != shown)
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
        let mut capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_resources()
            .enable_tools()
            .build();
        if self.offer == Offer::WorkingCopy {
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
        // They are about files alone.
        match self.callable().contains(&ToolGroup::Locks) {
            true => config.with_instructions(instructions::rules(self.sets, self.offer)),
            false => config,
        }
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut answer = DiscoverResult::from_server_info(versions, self.get_info());
        let client = client_name(&context);
        answer.instructions = self.rules_for(client.as_deref().unwrap_or_default(), answer.instructions);
        Ok(answer)
    }

    /// Subscriptions are those of the newest revision alone.
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
        answer.instructions = self.rules_for(&request.client_info.name, answer.instructions);
        Ok(answer)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        if self.offer == Offer::Deployment {
            return None;
        }
        let uris = requested.resource_subscriptions.iter().flatten();
        let mut accepted = SubscriptionFilter::new();
        accepted.tools_list_changed = requested.tools_list_changed;
        accepted.resource_subscriptions = Some(uris.filter(|uri| uri.starts_with(OBSERVABLE)).cloned().collect());
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
            if accepted.tools_list_changed == Some(true) && self.has_other_tools().await {
                sink.notify_tool_list_changed().await.map_err(|error| gone(&error))?;
            }
            for uri in accepted.resource_subscriptions.into_iter().flatten() {
                sink.notify_resource_updated(uri).await.map_err(|error| gone(&error))?;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let groups = self.groups(true).await?;
        let tools = self.definitions(&groups).cloned().collect();
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Some(groups);
        let (ttl, scope) = match self.listed {
            ToolSelection::Chosen(_) => (LISTS_TTL_MS, CacheScope::Public),
            ToolSelection::AsNeeded => (NEEDED_TTL_MS, CacheScope::Private),
        };
        Ok(ListToolsResult::with_all_items(tools)
            .with_ttl_ms(ttl)
            .with_cache_scope(scope))
    }

    fn get_tool(&self, name: &str) -> Option<ToolDefinition> {
        self.definitions(self.callable())
            .find(|tool| tool.name == name)
            .cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let named = offered_tools(self.sets, self.callable()).find(|tool| tool.name == request.name);
        let Some(tool) = named else {
            let names: Vec<&str> = offered_tools(self.sets, self.callable())
                .map(|tool| tool.name)
                .collect();
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
        let result = result.await?;
        if context.peer.peer_info().is_some() && self.has_other_tools().await {
            // A client that does not look again goes on with the tools that it has.
            let _ = context.peer.notify_tool_list_changed().await;
        }
        Ok(result.into())
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
            ListResourceTemplatesResult::with_all_items(resource_list::templates(self.sets, self.offer))
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
        Ok(instructions::coordinate(self.sets, self.offer, &request.name, &arguments)?.into())
    }
}

fn client_name(context: &RequestContext<RoleServer>) -> Option<String> {
    context.client_info().map(|client| client.name)
}

fn gone(error: &impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(format!("the subscription has ended: {error}"), None)
}
