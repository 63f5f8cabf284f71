//! One connection's view of the registry: its namespace and its tools come from how it was opened.

use std::borrow::Cow;
use std::sync::Arc;

use memory_core::access::GivenKey;
use memory_core::graph::GraphScope;
use memory_core::id::Namespace;
use memory_engine::Memory;
use memory_language::text::cut;
use memory_telemetry::traces::{self, CallSpan, Incoming};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, DiscoverResult,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, GetSkillRequestParams, GetSkillResult,
    Implementation, InitializeRequestParams, InitializeResult, JsonObject, ListPromptsResult,
    ListResourcesResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams, Prompt, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ResourcesCapability, Role, SKILLS_EXTENSION_ID,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::admission::{Admitted, http_parts, recorded};
use super::tool_filter::{ToolFilter, ToolSettings};
use super::{GraphHome, Scope, ToolRegistry, briefing, guide, prompts, protocol, resource, skills, standing};

const GUIDE_PROMPT: &str = "memory-guide";
const GUIDE_DESCRIPTION: &str = "How to use this memory: look first, what to keep, how to keep it true; with what the user wants done always";

/// A key that a connection of its own was opened with.
pub(crate) struct KeyOfConnection {
    pub(crate) key: GivenKey,
    /// The namespace that was asked for; none is the default of the key.
    pub(crate) namespace: Option<String>,
}

pub(crate) struct Connection {
    pub(super) registry: Arc<ToolRegistry>,
    pub(super) namespace: Namespace,
    pub(super) key: Option<KeyOfConnection>,
    graph: GraphHome,
    in_bulk: bool,
    pub(super) offer: ToolFilter,
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
            key: None,
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

    /// Every request of this connection may do what the key opens, and no more.
    pub(crate) fn with_key(mut self, key: KeyOfConnection) -> Self {
        self.key = Some(key);
        self
    }

    /// What is said of this server, as far as the caller of a request may see it.
    async fn info_for(&self, context: &RequestContext<RoleServer>) -> Result<ServerConfig, ErrorData> {
        Ok(match self.admitted(context).await?.offer {
            Cow::Borrowed(_) => self.get_info(),
            Cow::Owned(offer) => info(&offer, &guide::instructions(&offer)),
        })
    }

    pub(crate) fn registry(&self) -> Arc<ToolRegistry> {
        Arc::clone(&self.registry)
    }

    /// Where a request's graph is. The file belongs to the connection's own namespace; other namespaces have
    /// their threads.
    pub(super) fn graph_of(&self, namespace: &Namespace) -> GraphHome {
        if *namespace == self.namespace { self.graph.clone() } else { GraphHome::Threads }
    }

    /// The graph that the resource is.
    fn scope(&self, namespace: &Namespace) -> Result<GraphScope, ErrorData> {
        self.graph_of(namespace).scope(None).map_err(|error| ErrorData::internal_error(error.0, None))
    }

    pub(crate) fn readiness(&self) -> &memory_engine::readiness::Watch {
        self.registry.readiness()
    }

    pub(super) async fn memory(&self) -> Result<Arc<Memory>, ErrorData> {
        self.registry.readiness.ready().await.map_err(|readiness| resource::unready(&readiness))
    }

    pub(super) fn offered(&self, offer: &ToolFilter) -> impl Iterator<Item = &Tool> {
        self.registry.tools.iter().map(|registered| &registered.tool).filter(|tool| offer.has(&tool.name))
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

fn info(offer: &ToolFilter, instructions: &str) -> ServerConfig {
    let mut capabilities = ServerCapabilities::builder()
        .enable_tools()
        .enable_prompts()
        // Nothing that is offered has anything to complete: the answer is empty.
        .enable_completions()
        .build();
    if offer.has(resource::TOOL) || offer.has(briefing::TOOL) {
        let mut resources = ResourcesCapability::default();
        resources.subscribe = offer.has(resource::TOOL).then_some(true);
        capabilities.resources = Some(resources);
    }
    if skills::are_offered(offer) {
        let extensions = capabilities.extensions.get_or_insert_default();
        extensions.insert(SKILLS_EXTENSION_ID.to_owned(), JsonObject::new());
    }
    ServerConfig::new(capabilities)
        .with_server_info(
            Implementation::new("remembrancer", env!("CARGO_PKG_VERSION")).with_title("Remembrancer"),
        )
        .with_instructions(instructions)
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        info(&self.offer, &self.instructions)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let info = self.info_for(&context).await?;
        let mut greeting = self.negotiate_initialize(&request)?;
        (greeting.capabilities, greeting.instructions) = (info.capabilities, info.instructions);
        // Clients with a handshake over HTTP keep no connection on which they could be notified.
        if let Some(resources) =
            greeting.capabilities.resources.as_mut().filter(|_| http_parts(&context).is_some())
        {
            resources.subscribe = None;
        }
        context.peer.set_peer_info(request);
        Ok(greeting)
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.info_for(&context).await?))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.offered(&self.offer).find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        protocol::one_page(request)?;
        let admitted = self.admitted(&context).await?;
        Ok(ListToolsResult::with_all_items(self.offered(&admitted.offer).cloned().collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Admitted { caller, namespace, offer } = self.admitted(&context).await?;
        let refused = || ErrorData::invalid_params(offer.refusal(&request.name), None);
        if !offer.has(&request.name) {
            self.ask_for_more(&caller, &request.name, &context);
            return Err(refused());
        }
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
        let scope = Scope { caller, namespace, graph, in_bulk: self.in_bulk };
        let result = self.registry.call(&request.name, arguments, scope).await;
        if let (Some(span), Some((result, _))) = (span, &result) {
            end(span, result);
        }
        result.map(|(result, _)| result.into()).ok_or_else(refused)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        protocol::one_page(request)?;
        let admitted = self.admitted(&context).await?;
        let guide = Prompt::new(GUIDE_PROMPT, Some(GUIDE_DESCRIPTION), None).with_title("Memory guide");
        let all = std::iter::once(guide).chain(prompts::offered(&admitted.offer));
        Ok(ListPromptsResult::with_all_items(all.collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let admitted = self.admitted(&context).await?;
        if request.name == GUIDE_PROMPT {
            let mut messages = vec![PromptMessage::new_text(Role::User, guide::guide(&admitted.offer))];
            if admitted.offer.has(standing::TOOL) {
                // The guide is of use without the memory.
                if let Ok(memory) = self.memory().await {
                    messages.extend(standing::message(memory, admitted.namespace.clone()).await);
                }
            }
            return Ok(GetPromptResult::new(messages).with_description(GUIDE_DESCRIPTION).into());
        }
        let asked = prompts::find(&request.name, &admitted.offer)
            .ok_or_else(|| prompts::unknown(&request.name, GUIDE_PROMPT, &admitted.offer))?;
        let given = asked.given(request.arguments.as_ref())?;
        let messages = if asked.name == prompts::BRIEFING {
            let memory = self.memory_for(&admitted.caller).await?;
            let reading = asked.briefing(Arc::clone(&memory), admitted.namespace.clone(), given);
            recorded(&memory, &admitted, "prompts/get", reading).await?
        } else {
            asked.messages(given.as_deref())
        };
        Ok(GetPromptResult::new(messages).with_description(asked.description).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        protocol::one_page(request)?;
        Ok(ListResourcesResult::with_all_items(self.admitted(&context).await?.resources()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let admitted = self.admitted(&context).await?;
        if let Some(skill) = skills::read(&request.uri, &admitted.offer) {
            return Ok(skill.into());
        }
        admitted.check_resource(&request.uri, false)?;
        let scope = self.scope(&admitted.namespace)?;
        let memory = self.memory_for(&admitted.caller).await?;
        let namespace = admitted.namespace.clone();
        let reading = async {
            if resource::is_briefing(&request.uri) {
                resource::read_briefing(Arc::clone(&memory), namespace, &request.uri).await
            } else {
                resource::read(Arc::clone(&memory), namespace, scope).await
            }
        };
        Ok(recorded(&memory, &admitted, "resources/read", reading).await?.into())
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        protocol::one_page(request)?;
        Ok(ListSkillsResult::with_all_items(skills::list(&self.admitted(&context).await?.offer)))
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        let admitted = self.admitted(&context).await?;
        Ok(GetSkillResult::new(skills::get(&request.uri, &admitted.offer)?))
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
        let admitted = self.admitted(&context).await?;
        admitted.check_resource(&request.uri, true)?;
        if http_parts(&context).is_some() {
            return Err(ErrorData::invalid_request(
                "Over HTTP this server keeps no connection to notify you on: use subscriptions/listen of protocol 2026-07-28, or stdio",
                None,
            ));
        }
        let Admitted { caller, namespace, .. } = admitted;
        let watch = self.memory().await?.graph().watch(&namespace, &self.scope(&namespace)?).await;
        let watch = watch.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let holder = resource::Holder { readiness: self.readiness().clone(), caller, namespace };
        self.subscription.begin(watch, context.peer, holder);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.admitted(&context).await?.check_resource(&request.uri, true)?;
        self.subscription.end();
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let wants_graph = requested
            .resource_subscriptions
            .as_ref()
            .is_some_and(|uris| uris.iter().any(|u| u == resource::URI));
        let filter = SubscriptionFilter::builder();
        Some(if wants_graph && self.offer.has(resource::TOOL) {
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
            let admitted = self.admitted(context.request_context()).await?;
            admitted.check_resource(resource::URI, true)?;
            let Admitted { caller, namespace, .. } = admitted;
            let scope = self.scope(&namespace)?;
            let holder = resource::Holder { readiness: self.readiness().clone(), caller, namespace };
            resource::notify_of_changes(&holder, &scope, &context).await
        };
        tokio::select! {
            () = context.cancelled() => Ok(()),
            ended = telling => ended,
        }
    }
}
