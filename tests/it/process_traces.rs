//! Traces, sent to a collector in this process.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use memory_tests::process::{DataDir, Ran, Server, call, eventually, free_port};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const PATIENCE: Duration = Duration::from_secs(60);
const MARKER: &str = "quokkaberry";

/// What a collector was sent.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<ExportTraceServiceRequest>>>);

impl Collector {
    async fn start() -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let collector = Self::default();
        let taken = collector.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let taken = taken.clone();
                tokio::spawn(async move { taken.take(stream).await });
            }
        });
        (collector, url)
    }

    async fn take(&self, mut stream: TcpStream) -> Option<()> {
        let mut read = Vec::new();
        let head = loop {
            if let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            (stream.read_buf(&mut read).await.ok()? > 0).then_some(())?;
        };
        let text = String::from_utf8_lossy(&read[..head]).to_lowercase();
        assert!(text.starts_with("post /v1/traces ") && text.contains("application/x-protobuf"), "{text}");
        let length = text
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.trim().parse::<usize>().ok())?;
        while read.len() < head + length {
            (stream.read_buf(&mut read).await.ok()? > 0).then_some(())?;
        }
        let request =
            ExportTraceServiceRequest::decode(&read[head..head + length]).expect("a batch of spans");
        self.0.lock().expect("no panic").push(request);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.ok()
    }

    fn spans(&self) -> Vec<Span> {
        let taken = self.0.lock().expect("no panic");
        let resources = taken.iter().flat_map(|request| &request.resource_spans);
        resources.flat_map(|resource| &resource.scope_spans).flat_map(|scope| scope.spans.clone()).collect()
    }

    fn span(&self, name: &str) -> Option<Span> {
        self.spans().into_iter().find(|span| span.name == name)
    }
}

fn attribute(span: &Span, key: &str) -> Option<String> {
    let found = span.attributes.iter().find(|attribute| attribute.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        Any::StringValue(text) => Some(text.clone()),
        Any::IntValue(number) => Some(number.to_string()),
        other => panic!("{key}: {other:?}"),
    }
}

#[tokio::test]
async fn a_call_is_a_span_below_that_of_the_client_with_one_of_the_memory_within_and_no_text() {
    let (collector, url) = Collector::start().await;
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &url).env("OTEL_BSP_SCHEDULE_DELAY", "100");
    let server = Server::start_with(command).await;
    server
        .ask("remember", json!({"content": format!("The {MARKER} is in the blue box."), "title": MARKER}))
        .await;
    let mut message = call("recall", json!({"query": format!("where is the {MARKER}")}));
    message["params"]["_meta"] =
        json!({"traceparent": "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"});
    server.try_post(&message).await.expect("it is answered");
    server.call("forget", json!({"id": MARKER})).await;
    eventually("all spans have come", PATIENCE, async || collector.spans().len() >= 6).await;

    let recall = collector.span("tools/call recall").expect("the span of the call");
    assert_eq!(hex(&recall.trace_id), "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(hex(&recall.parent_span_id), "00f067aa0ba902b7");
    assert_eq!(recall.kind, 2, "a server's");
    for (key, value) in [
        ("mcp.method.name", "tools/call"),
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "recall"),
        ("jsonrpc.request.id", "7"),
        ("network.transport", "tcp"),
    ] {
        assert_eq!(attribute(&recall, key).as_deref(), Some(value), "{key}");
    }
    let search = collector.span("search_memory").expect("the span of the search");
    assert_eq!((&search.trace_id, &search.parent_span_id), (&recall.trace_id, &recall.span_id));
    assert_eq!(attribute(&search, "gen_ai.memory.record.count").as_deref(), Some("1"));
    assert_eq!(attribute(&search, "gen_ai.memory.store.id").as_deref(), Some("default"));
    let kept = collector.span("upsert_memory").expect("the span of what was kept");
    assert!(attribute(&kept, "gen_ai.memory.record.id").is_some_and(|id| id.starts_with("art_")));
    assert_eq!(attribute(&kept, "error.type"), None);
    let forget = collector.span("tools/call forget").expect("the span of what was refused");
    assert_eq!(attribute(&forget, "error.type").as_deref(), Some("tool_error"));
    assert_ne!(forget.trace_id, recall.trace_id, "nobody named a parent");
    let told = format!("{:?}", collector.0.lock().expect("no panic"));
    assert!(!told.contains(MARKER), "{told}");
    assert!(told.contains("remembrancer"), "the service has no name: {told}");
    server.terminate().await;
}

#[tokio::test]
async fn a_collector_that_is_away_costs_no_answer_and_is_told_once() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://127.0.0.1:{}", free_port()));
    command.env("OTEL_BSP_SCHEDULE_DELAY", "50");
    let server = Server::start_with(command).await;
    let log = || std::fs::read_to_string(data_dir.path().join("test.log")).expect("a log");
    eventually("it is told", PATIENCE, async || {
        server.ask("recall", json!({"query": "key"})).await;
        log().contains("spans are lost")
    })
    .await;
    server.ask("recall", json!({"query": "key"})).await;
    server.terminate().await;
    assert_eq!(log().matches("spans are lost").count(), 1, "{}", log());
}

#[tokio::test]
async fn a_collector_that_cannot_be_spoken_to_is_said_at_the_start() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector.example:4318");
    command.args(["serve", "--bind", "127.0.0.1:0"]).stderr(std::process::Stdio::piped());
    let ran = Ran::of(&mut command).await;
    assert!(
        ran.refusal().contains("OTEL_EXPORTER_OTLP_ENDPOINT") && ran.refusal().contains("http://"),
        "{ran:?}"
    );
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
