//! What the SDK asks of us. Methods that are not here are answered `method_not_found` by the SDK.

use std::sync::LazyLock;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, Tool as ToolDefinition,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use tokio::sync::{mpsc, oneshot};

use super::serve::Question;
use super::tools::Tool;
use super::{instructions, resources};

/// How long clients may keep the lists, in milliseconds: they change with the version of the server alone.
const LISTS_TTL_MS: u64 = 3_600_000;

static TOOLS: LazyLock<Vec<ToolDefinition>> = LazyLock::new(|| Tool::ALL.into_iter().map(Tool::definition).collect());

/// The server as the SDK sees it, for one request.
pub(super) struct Server {
    questions: mpsc::Sender<Question>,
}

impl Server {
    pub(super) fn new(questions: mpsc::Sender<Question>) -> Self {
        Server { questions }
    }

    /// Has the task of the request answer a question.
    async fn ask<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Question) -> Result<T, ErrorData> {
        // The task of the request goes away before it answers only where its caller has gone.
        let gone = || ErrorData::internal_error("the request was given up", None);
        let (reply, answered) = oneshot::channel();
        self.questions.send(question(reply)).await.map_err(|_| gone())?;
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
        ServerConfig::new(capabilities)
            .with_server_info(server)
            .with_instructions(instructions::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.clone())
            .with_ttl_ms(LISTS_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    fn get_tool(&self, name: &str) -> Option<ToolDefinition> {
        TOOLS.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = Tool::named(&request.name) else {
            let names = Tool::ALL.map(Tool::name).join(" and ");
            return Err(ErrorData::invalid_params(
                format!("there is no such tool; the tools are {names}"),
                None,
            ));
        };
        let arguments = serde_json::Value::Object(request.arguments.unwrap_or_default()).to_string();
        let result = self.ask(|reply| Question::Call { tool, arguments, reply }).await?;
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
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates())
            .with_ttl_ms(LISTS_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let result = self.ask(|reply| Question::Read { uri, reply }).await??;
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(vec![instructions::prompt()])
            .with_ttl_ms(LISTS_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        Ok(instructions::coordinate(&request.name, &arguments)?.into())
    }
}
