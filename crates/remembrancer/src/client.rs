//! The command line's own MCP client: commands call the same tools as agents do.

use anyhow::anyhow;
use memory_language::text::cut;
use rmcp::model::{CallToolRequestParams, JsonObject};
use rmcp::service::{ClientInitializeError, RunningService, ServiceError};
use rmcp::{ErrorData, RoleClient, ServiceExt};
use serde_json::Value;
use tokio::net::UnixStream;

use crate::daemon::{ClientRequest, send_line};
use crate::instance_paths::InstancePaths;
use crate::option_names::as_options;
use crate::settings::Settings;
use crate::tools::ToolSettings;

pub(crate) struct Client(RunningService<RoleClient, ()>);

/// What a tool said.
pub(crate) struct Answer {
    pub(crate) value: Value,
    pub(crate) is_refusal: bool,
}

impl Answer {
    /// The reason of a refusal, with its hint, in the words of the command line.
    pub(crate) fn reason(&self) -> String {
        let text = |key: &str| self.value.get(key).and_then(Value::as_str).unwrap_or_default();
        match (text("error"), text("hint")) {
            ("", _) => cut(&self.value.to_string(), 500),
            (error, hint) if hint.is_empty() || hint == error => as_options(error),
            (error, hint) => as_options(&format!("{}. {hint}", error.trim_end_matches('.'))),
        }
    }
}

impl Client {
    /// Connects to the process that holds the data folder; starts one when there is none.
    pub(crate) async fn connect(settings: &Settings) -> anyhow::Result<Self> {
        Self::connect_as(settings, false).await
    }

    /// The same; jobs queued through this connection get bulk priority.
    pub(crate) async fn connect_in_bulk(settings: &Settings) -> anyhow::Result<Self> {
        Self::connect_as(settings, true).await
    }

    /// The same with the process that runs; `None` where none does. Starts nothing.
    pub(crate) async fn connect_running(settings: &Settings) -> anyhow::Result<Option<Self>> {
        let hello = ClientRequest::mcp(settings, ToolSettings::default(), None, false)?;
        match InstancePaths::of(settings)?.connect().await? {
            Some(stream) => Ok(Some(Self::greet(stream, &hello).await?)),
            None => Ok(None),
        }
    }

    async fn connect_as(settings: &Settings, in_bulk: bool) -> anyhow::Result<Self> {
        let hello = ClientRequest::mcp(settings, ToolSettings::default(), None, in_bulk)?;
        Self::greet(InstancePaths::of(settings)?.connect_or_start(settings).await?, &hello).await
    }

    async fn greet(stream: UnixStream, hello: &ClientRequest) -> anyhow::Result<Self> {
        let (read, mut write) = stream.into_split();
        send_line(&mut write, hello).await?;
        let greeted = ().serve((read, write)).await;
        Ok(Self(greeted.map_err(|failed| match failed {
            ClientInitializeError::JsonRpcError(refusal) => said(&refusal),
            other => anyhow::Error::from(other).context("the memory's process did not answer"),
        })?))
    }

    pub(crate) async fn call(&self, tool: &'static str, arguments: JsonObject) -> anyhow::Result<Answer> {
        let request = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = self.0.call_tool(request).await.map_err(why)?;
        Ok(Answer {
            is_refusal: result.is_error.unwrap_or(false),
            value: result.structured_content.unwrap_or_default(),
        })
    }
}

/// Why a call was not answered: what the process has said of it, or that there is none any more.
fn why(failed: ServiceError) -> anyhow::Error {
    match failed {
        ServiceError::McpError(refusal) => said(&refusal),
        other => anyhow::Error::from(other).context("the memory's process has ended; try again"),
    }
}

/// The sentence of a refusal, without what the protocol puts before it.
fn said(refusal: &ErrorData) -> anyhow::Error {
    anyhow!(as_options(&refusal.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_its_sentence_and_only_a_process_that_is_gone_has_ended() {
        let closed = "remember is not open to this key: it is a reader, and this takes a writer";
        let refused = why(ServiceError::McpError(ErrorData::invalid_params(closed, None)));
        assert_eq!(format!("{refused:#}"), closed);
        let gone = format!("{:#}", why(ServiceError::TransportClosed));
        assert!(gone.starts_with("the memory's process has ended; try again: "), "{gone}");
    }
}
