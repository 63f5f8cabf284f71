//! The knowledge graph as a resource: read whole, and watched for its changes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use memory_core::Invalid;
use memory_core::graph::{GraphScope, PageRequest};
use memory_core::id::Namespace;
use memory_engine::Memory;
use memory_engine::graph::GraphWatch;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};
use tokio_util::task::AbortOnDropHandle;

use super::{TOOL_TIMEOUT, graph, prompts};
use crate::access::{self, Caller};
use memory_engine::readiness::{Readiness, Watch};

/// The briefing, of a project with `?project=` and its name.
pub(super) const BRIEFING_URI: &str = "memory://briefing";
pub(super) const URI: &str = "memory://knowledge-graph";
/// The tool that shows the same: without it there is no resource.
pub(super) const TOOL: &str = "read_graph";
const MIME_TYPE: &str = "application/json";
/// The largest graph that is given in one component; of a larger one the first page is, which says how to go on.
const BYTES_MAX: usize = 400_000;

/// How often a subscription that has nothing to tell looks whether its key still opens.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);

pub(super) fn listed() -> Resource {
    Resource::new(URI, "knowledge-graph")
        .with_title("Knowledge Graph")
        .with_description("All entities and relations of the knowledge graph")
        .with_mime_type(MIME_TYPE)
}

pub(super) fn briefing_listed() -> Resource {
    Resource::new(BRIEFING_URI, "briefing")
        .with_title("Briefing")
        .with_description("What to know when a conversation begins; of one project with ?project=NAME")
        .with_mime_type("text/markdown")
}

pub(super) fn is_briefing(uri: &str) -> bool {
    uri.strip_prefix(BRIEFING_URI).is_some_and(|rest| rest.is_empty() || rest.starts_with("?project="))
}

/// The briefing as Markdown.
pub(super) async fn read_briefing(
    memory: Arc<Memory>,
    ns: Namespace,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let given = uri.split_once("?project=").map(|(_, name)| name);
    let project =
        given.map(|name| percent_decoded(name).map_err(|invalid| ErrorData::invalid_params(invalid.0, None)));
    let text = prompts::briefing_text(memory, ns, project.transpose()?).await?;
    let contents = ResourceContents::text(text, uri).with_mime_type("text/markdown");
    Ok(ReadResourceResult::new(vec![contents]))
}

fn percent_decoded(text: &str) -> Result<String, Invalid> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
        match (digit(), digit()) {
            (Some(high), Some(low)) => bytes.push((high * 16 + low) as u8),
            _ => {
                return Err(Invalid::new(
                    "behind % in the resource's project there must be two hexadecimal digits",
                ));
            }
        }
    }
    String::from_utf8(bytes).map_err(|_| Invalid::new("the resource's project is not UTF-8"))
}

/// The graph as JSON: the whole of it, or its first page when it is too large for one component.
pub(super) async fn read(
    memory: Arc<Memory>,
    ns: Namespace,
    scope: GraphScope,
) -> Result<ReadResourceResult, ErrorData> {
    // A task of its own, so that a fault of ours is an answer too.
    let reading = tokio::spawn(tokio::time::timeout(TOOL_TIMEOUT, async move {
        let whole = memory.graph().read_whole_within(&ns, &scope, BYTES_MAX as u64).await?.map(graph::whole);
        match whole {
            Some(Ok(text)) if text.len() > BYTES_MAX => {}
            Some(whole) => return Ok(whole),
            None => {}
        }
        Ok(graph::first_page(memory.graph().read_graph(&ns, &scope, PageRequest::default()).await?))
    }));
    let read: Result<_, memory_engine::EngineError> = match reading.await {
        Ok(Ok(read)) => read,
        Ok(Err(_)) => return Err(too_slow()),
        Err(_) => return Err(faulty()),
    };
    match read.map_err(|error| ErrorData::internal_error(error.to_string(), None))? {
        Ok(text) => {
            let contents = ResourceContents::text(text, URI).with_mime_type(MIME_TYPE);
            Ok(ReadResourceResult::new(vec![contents]))
        }
        Err(_) => Err(faulty()),
    }
}

fn too_slow() -> ErrorData {
    let seconds = TOOL_TIMEOUT.as_secs();
    let error = format!(
        "The knowledge graph was not read within {seconds} s. Read it page by page: {TOOL} with cursor."
    );
    ErrorData::internal_error(error, None)
}

fn faulty() -> ErrorData {
    tracing::error!("the knowledge graph could not be read as a resource");
    ErrorData::internal_error("An internal error occurred; the server's log has the details.", None)
}

pub(super) fn unready(readiness: &Readiness) -> ErrorData {
    ErrorData::internal_error(readiness.to_string(), None)
}

/// A subscription as clients up to 2025-11-25 make it: it lasts as long as the connection, or until it is
/// taken back.
#[derive(Default)]
pub(super) struct Subscription(Mutex<Option<AbortOnDropHandle<()>>>);

impl Subscription {
    pub(super) fn begin(&self, mut watch: GraphWatch, peer: Peer<RoleServer>, holder: Holder) {
        let telling = tokio::spawn(async move {
            loop {
                watch.changed().await;
                if holder.check().await.is_err() {
                    return;
                }
                let update = ResourceUpdatedNotificationParam::new(URI);
                if peer.notify_resource_updated(update).await.is_err() {
                    return;
                }
            }
        });
        self.put(Some(AbortOnDropHandle::new(telling)));
    }

    pub(super) fn end(&self) {
        self.put(None);
    }

    fn put(&self, task: Option<AbortOnDropHandle<()>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = task;
    }
}

/// Who subscribed, and to what of theirs.
pub(super) struct Holder {
    pub(super) readiness: Watch,
    pub(super) caller: Caller,
    pub(super) namespace: Namespace,
}

impl Holder {
    /// Whether they may still be notified: a key may have been revoked meanwhile.
    async fn check(&self) -> Result<(), ErrorData> {
        let memory = self.readiness.ready().await.map_err(|readiness| unready(&readiness))?;
        let asked = access::confirm_again(&memory, &self.caller, &self.namespace).await;
        asked.map_err(|closed| ErrorData::invalid_request(closed.to_string(), None))
    }
}

/// Notifies one `subscriptions/listen` of every change until its client or the server ends it, or its key opens nothing any
/// more: that is asked before each notification, and from time to time.
///
/// The acknowledgement was sent before the watch begins, and a change between the two cannot be seen: so the first notification
/// is sent in any case. It also tells a client that subscribes again to look for what it missed.
pub(super) async fn notify_of_changes(
    holder: &Holder,
    scope: &GraphScope,
    context: &SubscriptionContext,
) -> Result<(), ErrorData> {
    let Holder { readiness, namespace: ns, .. } = holder;
    let memory = readiness.ready().await.map_err(|readiness| unready(&readiness))?;
    holder.check().await?;
    let watch = memory.graph().watch(ns, scope).await;
    let mut watch = watch.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    drop(memory);
    let mut is_news = true;
    loop {
        if is_news && context.sink().notify_resource_updated(URI).await.is_err() {
            return Ok(());
        }
        is_news = tokio::time::timeout(CHECK_INTERVAL, watch.changed()).await.is_ok();
        holder.check().await?;
    }
}
