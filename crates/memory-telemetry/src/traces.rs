//! Traces over OTLP, where the standard variables of OpenTelemetry name a collector: a span a tool call by the conventions
//! for MCP servers, and one within by those for memory. What is asked and remembered is in neither.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{CONNECTION, HOST, HeaderValue};
use hyper_util::rt::TokioIo;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{SpanKind, Status, TraceContextExt, Tracer, TracerProvider};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::net::TcpStream;
use tokio::runtime::Handle;

const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
const PROTOCOLS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];
/// How long a collector has for its answer, whatever is set, and of that no more than this is read.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_MAX_BYTES: usize = 64 * 1024;
/// How long an ending process waits for its last spans to be taken.
const LAST_WORDS: Duration = Duration::from_secs(2);

static TRACED: OnceLock<SdkTracerProvider> = OnceLock::new();

/// Why spans cannot be sent as the `OTEL_*` variables say: the operator changes the one that is named.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceSettingError {
    #[error(
        "{name} is {endpoint:?}; spans are sent by http:// only: name a collector of this machine or network, which passes them on"
    )]
    NotHttp { name: String, endpoint: String },
    #[error("{name} is {protocol:?}; spans are sent as http/protobuf only")]
    NotProtobuf { name: String, protocol: String },
    #[error("the OTEL_* variables cannot be used: {0}")]
    Unusable(String),
}

/// Begins to trace where a collector is named; within the runtime that the spans are to be sent by.
pub fn install(service: &'static str, version: &'static str) -> Result<(), TraceSettingError> {
    if !is_wanted(|name| std::env::var(name).ok())? {
        return Ok(());
    }
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(Client { runtime: Handle::current(), has_failed: AtomicBool::new(false) })
        .build()
        .map_err(|error| TraceSettingError::Unusable(error.to_string()))?;
    let mut resource = Resource::builder().with_attribute(KeyValue::new("service.version", version));
    if std::env::var("OTEL_SERVICE_NAME").map_or(true, |name| name.trim().is_empty()) {
        resource = resource.with_service_name(service);
    }
    let provider =
        SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build();
    let _ = TRACED.set(provider);
    tracing::info!("spans are sent to a collector");
    Ok(())
}

/// Sends what is left.
pub async fn shut_down() {
    let Some(provider) = TRACED.get() else { return };
    let _ = tokio::task::spawn_blocking(|| provider.shutdown_with_timeout(LAST_WORDS)).await;
}

/// Whether a collector is named that can be spoken to, and nothing switches it off.
fn is_wanted(variable: impl Fn(&str) -> Option<String>) -> Result<bool, TraceSettingError> {
    let set =
        |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let first =
        |names: &[&str]| names.iter().find_map(|name| set(name).map(|value| ((*name).to_owned(), value)));
    let is_off = set("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        || set("OTEL_TRACES_EXPORTER").is_some_and(|value| value.eq_ignore_ascii_case("none"));
    let Some((name, endpoint)) = first(&ENDPOINTS).filter(|_| !is_off) else { return Ok(false) };
    if !endpoint.starts_with("http://") {
        return Err(TraceSettingError::NotHttp { name, endpoint });
    }
    match first(&PROTOCOLS) {
        Some((name, protocol)) if protocol != "http/protobuf" => {
            Err(TraceSettingError::NotProtobuf { name, protocol })
        }
        _ => Ok(true),
    }
}

/// A call of a tool as it came in.
pub struct Incoming<'a> {
    pub tool: &'a str,
    pub namespace: &'a str,
    /// The client's span, from `_meta`.
    pub traceparent: Option<&'a str>,
    pub tracestate: Option<&'a str>,
    pub request_id: String,
    pub is_http: bool,
}

/// The span of a call, and within it that of what is done to the memory.
pub struct CallSpan {
    server: Context,
    memory: Option<Context>,
}

/// Begins the spans of a call; none where no collector is configured.
pub fn begin(call: &Incoming<'_>) -> Option<CallSpan> {
    let tracer = TRACED.get()?.tracer("remembrancer");
    let mut carried = HashMap::new();
    for (name, value) in [("traceparent", call.traceparent), ("tracestate", call.tracestate)] {
        if let Some(value) = value {
            carried.insert(name.to_owned(), value.to_owned());
        }
    }
    // Nothing of the process' own is a parent: only what the client says.
    let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &carried);
    let (transport, protocol) = if call.is_http { ("tcp", Some("http")) } else { ("pipe", None) };
    let mut attributes = vec![
        KeyValue::new("mcp.method.name", "tools/call"),
        KeyValue::new("gen_ai.operation.name", "execute_tool"),
        KeyValue::new("gen_ai.tool.name", call.tool.to_owned()),
        KeyValue::new("jsonrpc.request.id", call.request_id.clone()),
        KeyValue::new("network.transport", transport),
    ];
    attributes.extend(protocol.map(|protocol| KeyValue::new("network.protocol.name", protocol)));
    let server = tracer
        .span_builder(format!("tools/call {}", call.tool))
        .with_kind(SpanKind::Server)
        .with_attributes(attributes)
        .start_with_context(&tracer, &parent);
    let server = parent.with_span(server);
    let memory = operation_of(call.tool).map(|operation| {
        let span = tracer
            .span_builder(operation)
            .with_kind(SpanKind::Internal)
            .with_attributes([
                KeyValue::new("gen_ai.operation.name", operation),
                KeyValue::new("gen_ai.memory.store.id", call.namespace.to_owned()),
            ])
            .start_with_context(&tracer, &server);
        server.with_span(span)
    });
    Some(CallSpan { server, memory })
}

impl CallSpan {
    /// Ends both: with the kind of error, if it was one, and what it was about.
    pub fn end(self, error: Option<&'static str>, record_id: Option<String>, record_count: Option<usize>) {
        if let Some(memory) = &self.memory {
            let span = memory.span();
            if let Some(id) = record_id {
                span.set_attribute(KeyValue::new("gen_ai.memory.record.id", id));
            }
            if let Some(count) = record_count {
                span.set_attribute(KeyValue::new("gen_ai.memory.record.count", count as i64));
            }
        }
        for context in self.memory.iter().chain([&self.server]) {
            let span = context.span();
            if let Some(error) = error {
                span.set_attribute(KeyValue::new("error.type", error));
                span.set_status(Status::error(""));
            }
            span.end();
        }
    }
}

/// What a tool does to the memory, by the names of the conventions.
fn operation_of(tool: &str) -> Option<&'static str> {
    Some(match tool {
        "remember" | "save_memory" | "create_entities" | "create_relations" => "upsert_memory",
        "recall" | "search_nodes" | "open_nodes" | "read_graph" | "query_nodes" => "search_memory",
        "add_observations" | "update_observation" => "update_memory",
        "forget" | "delete_entities" | "delete_observations" | "delete_relations" => "delete_memory",
        _ => return None,
    })
}

/// Sends spans from the exporter's own thread, by the process' runtime.
#[derive(Debug)]
struct Client {
    runtime: Handle,
    has_failed: AtomicBool,
}

#[async_trait::async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let sending = self.runtime.spawn(async { tokio::time::timeout(SEND_TIMEOUT, send(request)).await });
        let sent = match sending.await? {
            Ok(sent) => sent,
            Err(_) => Err("the collector did not answer in time".into()),
        };
        // Logged when it begins, not with every batch.
        match &sent {
            Ok(_) => self.has_failed.store(false, Ordering::Relaxed),
            Err(error) if !self.has_failed.swap(true, Ordering::Relaxed) => {
                tracing::warn!(%error, "spans are lost: the collector cannot be reached");
            }
            Err(_) => {}
        }
        sent
    }
}

async fn send(request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let (mut head, body) = request.into_parts();
    let authority = head.uri.authority().ok_or("the collector's address names no host")?.clone();
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((host, authority.port_u16().unwrap_or(80))).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    head.uri = head.uri.path_and_query().map_or("/", |path| path.as_str()).parse()?;
    head.headers.insert(HOST, HeaderValue::from_str(authority.as_str())?);
    head.headers.insert(CONNECTION, HeaderValue::from_static("close"));
    let response = sender.send_request(Request::from_parts(head, Full::new(body))).await?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, ANSWER_MAX_BYTES).collect().await?.to_bytes();
    Ok(Response::from_parts(head, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(variables: &[(&str, &str)]) -> Result<bool, TraceSettingError> {
        is_wanted(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn spans_are_sent_only_where_a_collector_is_named_that_can_be_spoken_to() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318");
        assert_eq!(wants(&[]), Ok(false));
        assert_eq!(wants(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]), Ok(false));
        assert_eq!(wants(&[endpoint]), Ok(true));
        assert_eq!(wants(&[endpoint, ("OTEL_SDK_DISABLED", "true")]), Ok(false));
        assert_eq!(wants(&[endpoint, ("OTEL_TRACES_EXPORTER", "none")]), Ok(false));
        let refused =
            wants(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector.example")]).unwrap_err().to_string();
        assert!(refused.contains("OTEL_EXPORTER_OTLP_ENDPOINT") && refused.contains("http://"), "{refused}");
        let refused = wants(&[endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]).unwrap_err().to_string();
        assert!(refused.contains("grpc"), "{refused}");
    }
}
