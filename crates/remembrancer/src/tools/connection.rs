//! One connection's view of the registry: its namespace and its tools come from how it was opened.

use std::sync::Arc;

use memory_core::graph::GraphScope;
use memory_core::id::Namespace;
use memory_engine::Memory;
use memory_language::text::cut;
use memory_telemetry::traces::{self, CallSpan, Incoming};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    Prompt, PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ResourcesCapability, Role,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;

use super::tool_filter::{ToolFilter, ToolSettings};
use super::{GraphHome, ToolRegistry, guide, protocol, resource};

const GUIDE_PROMPT: &str = "memory-guide";
const GUIDE_DESCRIPTION: &str = "How to use this memory: look first, what to keep, how to keep it true";

pub(crate) struct Connection {
    registry: Arc<ToolRegistry>,
    namespace: Namespace,
    graph: GraphHome,
    in_bulk: bool,
    offer: ToolFilter,
    instructions: String,
    subscription: resource::Subscription,
}

impl Connection {
    pub(crate) fn new(
        registry: Arc<ToolRegistry>,
        namespace: Namespace,
        graph: GraphHome,
        settings: &ToolSettings,
    ) -> Self {
        let offer = ToolFilter::new(settings, &registry.tools);
        let instructions = guide::instructions(&offer);
        Self {
            registry,
            namespace,
            graph,
            in_bulk: false,
            offer,
            instructions,
            subscription: resource::Subscription::default(),
        }
    }

    /// Whether jobs queued through this connection get bulk priority.
    pub(crate) fn in_bulk(mut self, in_bulk: bool) -> Self {
        self.in_bulk = in_bulk;
        self
    }

    /// The namespace of this request: an HTTP request may name it in its address.
    fn namespace_of(&self, context: &RequestContext<RoleServer>) -> Result<Namespace, ErrorData> {
        let Some(parts) = http_parts(context) else { return Ok(self.namespace.clone()) };
        let named = parts.uri.query().and_then(|query| {
            query.split('&').find_map(|pair| pair.strip_prefix("namespace=")).map(str::to_owned)
        });
        match named {
            None => Ok(self.namespace.clone()),
            Some(name) => Namespace::new(&name).map_err(|error| ErrorData::invalid_params(error.0, None)),
        }
    }

    /// Where a request's graph is. The file belongs to the connection's own namespace; other namespaces have
    /// their threads.
    fn graph_of(&self, namespace: &Namespace) -> GraphHome {
        if *namespace == self.namespace { self.graph.clone() } else { GraphHome::Threads }
    }

    fn has_graph(&self) -> bool {
        self.offer.has(resource::TOOL)
    }

    /// Refuses every resource but the one that is offered.
    fn check_resource(&self, uri: &str) -> Result<(), ErrorData> {
        if uri == resource::URI && self.has_graph() {
            return Ok(());
        }
        let error = if self.has_graph() {
            format!("there is no resource {}; there is {}", cut(uri, 200), resource::URI)
        } else {
            format!("there is no resource here: {}", self.offer.refusal(resource::TOOL))
        };
        Err(ErrorData::resource_not_found(error, Some(json!({ "uri": cut(uri, 200) }))))
    }

    /// The graph that the resource is.
    fn scope(&self, namespace: &Namespace) -> Result<GraphScope, ErrorData> {
        self.graph_of(namespace).scope(None).map_err(|error| ErrorData::internal_error(error.0, None))
    }

    pub(crate) fn readiness(&self) -> &memory_engine::readiness::Watch {
        self.registry.readiness()
    }

    async fn memory(&self) -> Result<Arc<Memory>, ErrorData> {
        self.registry.readiness.ready().await.map_err(|readiness| resource::unready(&readiness))
    }

    fn offered(&self) -> impl Iterator<Item = &Tool> {
        self.registry
            .tools
            .iter()
            .map(|registered| &registered.tool)
            .filter(|tool| self.offer.has(&tool.name))
    }
}

/// Ends the span of a call, with what it was about: no text.
fn end(span: CallSpan, result: &CallToolResult) {
    let error = result.is_error.unwrap_or(false).then_some("tool_error");
    let answer = result.structured_content.as_ref();
    // A refusal says the id again that was given, whatever that is.
    let id = answer.and_then(|answer| answer["id"].as_str()).filter(|_| error.is_none());
    let id = id.map(str::to_owned);
    let count = answer.and_then(|answer| Some(answer["results"].as_array()?.len()));
    span.end(error, id, count);
}

/// The HTTP request that a message came with; none on a connection of its own.
fn http_parts(context: &RequestContext<RoleServer>) -> Option<&axum::http::request::Parts> {
    context.extensions.get()
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            // Nothing that is offered has anything to complete: the answer is empty.
            .enable_completions()
            .build();
        if self.has_graph() {
            let mut resources = ResourcesCapability::default();
            resources.subscribe = Some(true);
            capabilities.resources = Some(resources);
        }
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("remembrancer", env!("CARGO_PKG_VERSION")).with_title("Remembrancer"),
            )
            .with_instructions(&self.instructions)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut greeting = self.negotiate_initialize(&request)?;
        // Clients with a handshake over HTTP keep no connection on which they could be notified.
        if let Some(resources) =
            greeting.capabilities.resources.as_mut().filter(|_| http_parts(&context).is_some())
        {
            resources.subscribe = None;
        }
        context.peer.set_peer_info(request);
        Ok(greeting)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.offered().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        protocol::one_page(request)?;
        Ok(ListToolsResult::with_all_items(self.offered().cloned().collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let refused = || ErrorData::invalid_params(self.offer.refusal(&request.name), None);
        if !self.offer.has(&request.name) {
            return Err(refused());
        }
        let namespace = self.namespace_of(&context)?;
        let arguments = request.arguments.unwrap_or_default();
        let graph = self.graph_of(&namespace);
        let span = traces::begin(&Incoming {
            tool: &request.name,
            namespace: namespace.as_str(),
            traceparent: context.meta.get_traceparent(),
            tracestate: context.meta.get_tracestate(),
            request_id: cut(&context.id.to_string(), protocol::NAME_MAX_CHARS),
            is_http: http_parts(&context).is_some(),
        });
        let result = self.registry.call(&request.name, arguments, namespace, graph, self.in_bulk).await;
        if let (Some(span), Some(result)) = (span, &result) {
            end(span, result);
        }
        result.map(Into::into).ok_or_else(refused)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        protocol::one_page(request)?;
        let guide = Prompt::new(GUIDE_PROMPT, Some(GUIDE_DESCRIPTION), None).with_title("Memory guide");
        Ok(ListPromptsResult::with_all_items(vec![guide]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != GUIDE_PROMPT {
            let name = cut(&request.name, protocol::NAME_MAX_CHARS);
            let error = format!("unknown prompt {name}; there is {GUIDE_PROMPT}");
            return Err(ErrorData::invalid_params(error, None));
        }
        let message = PromptMessage::new_text(Role::User, guide::guide(&self.offer));
        Ok(GetPromptResult::new(vec![message]).with_description(GUIDE_DESCRIPTION).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        protocol::one_page(request)?;
        let listed = self.has_graph().then(resource::listed);
        Ok(ListResourcesResult::with_all_items(listed.into_iter().collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.check_resource(&request.uri)?;
        let namespace = self.namespace_of(&context)?;
        let scope = self.scope(&namespace)?;
        Ok(resource::read(self.memory().await?, namespace, scope).await?.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(protocol::unknown(request))
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.check_resource(&request.uri)?;
        if http_parts(&context).is_some() {
            return Err(ErrorData::invalid_request(
                "Over HTTP this server keeps no connection to notify you on: use subscriptions/listen of protocol 2026-07-28, or stdio",
                None,
            ));
        }
        let watch = self.memory().await?.graph().watch(&self.namespace, &self.scope(&self.namespace)?).await;
        let watch = watch.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        self.subscription.begin(watch, context.peer);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.check_resource(&request.uri)?;
        self.subscription.end();
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let wants_graph = requested
            .resource_subscriptions
            .as_ref()
            .is_some_and(|uris| uris.iter().any(|u| u == resource::URI));
        let filter = SubscriptionFilter::builder();
        Some(if wants_graph && self.has_graph() {
            filter.resource_subscription(resource::URI).build()
        } else {
            filter.build()
        })
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let telling = async {
            if context.accepted().resource_subscriptions.is_none() {
                return std::future::pending().await;
            }
            let namespace = self.namespace_of(context.request_context())?;
            resource::notify_of_changes(
                &self.registry.readiness,
                &namespace,
                &self.scope(&namespace)?,
                &context,
            )
            .await
        };
        tokio::select! {
            () = context.cancelled() => Ok(()),
            ended = telling => ended,
        }
    }
}
