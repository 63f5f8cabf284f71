//! What a request may see and do: who it comes from, in which namespace, which tools and resources it is offered.

use std::borrow::Cow;
use std::sync::Arc;

use memory_core::access::{Grant, Role as KeyRole};
use memory_core::id::Namespace;
use memory_engine::Memory;
use memory_language::text::cut;
use rmcp::model::Resource;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::json;

use super::audited::{Auditing, Called};
use super::connection::Connection;
use super::measured::Outcome;
use super::tool_filter::ToolFilter;
use super::{briefing, resource};
use crate::access::{self, Caller, StepUp};

/// What one request may see and do.
pub(super) struct Admitted<'a> {
    pub(super) caller: Caller,
    pub(super) namespace: Namespace,
    pub(super) offer: Cow<'a, ToolFilter>,
}

impl Admitted<'_> {
    pub(super) fn has_graph(&self) -> bool {
        self.offer.has(resource::TOOL)
    }

    /// The resources that are offered.
    pub(super) fn resources(&self) -> Vec<Resource> {
        let graph = self.has_graph().then(resource::listed);
        let briefing = self.offer.has(briefing::TOOL).then(resource::briefing_listed);
        graph.into_iter().chain(briefing).collect()
    }

    /// Refuses every resource but those that are offered, which can be watched or only read.
    pub(super) fn check_resource(&self, uri: &str, is_watched: bool) -> Result<(), ErrorData> {
        if uri == resource::URI && self.has_graph() {
            return Ok(());
        }
        let is_briefing = resource::is_briefing(uri) && self.offer.has(briefing::TOOL);
        if is_briefing && !is_watched {
            return Ok(());
        }
        let offered: Vec<String> =
            self.resources().into_iter().map(|resource| resource.uri.clone()).collect();
        let error = if is_briefing {
            format!("{} is read when it is wanted and reports no changes", resource::BRIEFING_URI)
        } else if offered.is_empty() || (uri == resource::URI && !self.has_graph()) {
            format!("there is no resource here: {}", self.offer.refusal(resource::TOOL))
        } else {
            format!("there is no resource {}; there is {}", cut(uri, 200), offered.join(", "))
        };
        Err(ErrorData::resource_not_found(error, Some(json!({ "uri": cut(uri, 200) }))))
    }
}

impl Connection {
    /// Who a request comes from. What came over HTTP was checked at the door; a key of the connection is looked up now.
    async fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        if let Some(parts) = http_parts(context) {
            let caller = parts.extensions.get::<Caller>().cloned();
            return caller.ok_or_else(|| ErrorData::invalid_request(access::KEY_NEEDED, None));
        }
        let Some(given) = &self.key else { return Ok(Caller::Owner) };
        let memory = self.memory().await?;
        access::holder(&memory, &given.key)
            .await
            .map_err(|closed| ErrorData::invalid_request(closed.to_string(), None))
    }

    /// What this request may see and do: an HTTP request may name its namespace in its address.
    pub(super) async fn admitted(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Admitted<'_>, ErrorData> {
        let caller = self.caller(context).await?;
        let named = match (http_parts(context), &self.key) {
            (Some(parts), _) => access::named_namespace(&parts.uri),
            (None, key) => key.as_ref().and_then(|key| key.namespace.clone()),
        };
        self.admit(caller, named.as_deref())
    }

    /// What this caller may see and do in the namespace that is named, or in the default.
    pub(super) fn admit(&self, caller: Caller, named: Option<&str>) -> Result<Admitted<'_>, ErrorData> {
        let Some(grant) = caller.grant() else {
            let namespace = named.map_or_else(|| Ok(self.namespace.clone()), Namespace::new);
            let namespace = namespace.map_err(|error| ErrorData::invalid_params(error.0, None))?;
            return Ok(Admitted { caller, namespace, offer: Cow::Borrowed(&self.offer) });
        };
        let namespace = grant.namespace(named).cloned();
        let namespace =
            namespace.ok_or_else(|| ErrorData::invalid_request(access::NAMESPACE_REFUSED, None))?;
        let offer = Cow::Owned(self.offer.narrowed(grant));
        Ok(Admitted { caller, namespace, offer })
    }

    /// Says which role a tool takes that is offered here, if it is the role that the caller lacks.
    pub(super) fn ask_for_more(&self, caller: &Caller, tool: &str, context: &RequestContext<RoleServer>) {
        let step_up = http_parts(context).and_then(|parts| parts.extensions.get::<StepUp>());
        let wanted = |grant: &Grant| grant.clone().with_role(KeyRole::Writer);
        let lacks_role = caller.grant().is_some_and(|grant| {
            grant.role < KeyRole::Writer && self.offer.narrowed(&wanted(grant)).has(tool)
        });
        if let (Some(step_up), true) = (step_up, lacks_role) {
            step_up.need(KeyRole::Writer);
        }
    }

    /// The memory, if the caller may use it.
    pub(super) async fn memory_for(&self, caller: &Caller) -> Result<Arc<Memory>, ErrorData> {
        let memory = self.memory().await?;
        let confirmed = access::confirm(&memory, caller).await;
        confirmed.map_err(|closed| ErrorData::invalid_request(closed.to_string(), None))?;
        Ok(memory)
    }
}

/// What is read besides tools, on record where reads are.
pub(super) async fn recorded<T>(
    memory: &Arc<Memory>,
    admitted: &Admitted<'_>,
    action: &'static str,
    reading: impl Future<Output = Result<T, ErrorData>>,
) -> Result<T, ErrorData> {
    let called = Called { action, is_change: false, given: None };
    let auditing = Auditing::begin(memory, &admitted.caller, &admitted.namespace, &called);
    let read = reading.await;
    if let Some(auditing) = auditing {
        auditing.end(if read.is_ok() { Outcome::Ok } else { Outcome::Failed }, None).await;
    }
    read
}

/// The HTTP request that a message came with; none on a connection of its own.
pub(super) fn http_parts(context: &RequestContext<RoleServer>) -> Option<&axum::http::request::Parts> {
    context.extensions.get()
}
