//! The command line's own MCP client: commands call the same tools as agents do.

use anyhow::Context;
use memory_language::text::cut;
use rmcp::model::{CallToolRequestParams, JsonObject};
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt};
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
        Ok(Self(().serve((read, write)).await.context("the memory's process did not answer")?))
    }

    pub(crate) async fn call(&self, tool: &'static str, arguments: JsonObject) -> anyhow::Result<Answer> {
        let request = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = self.0.call_tool(request).await.context("the memory's process has ended; try again")?;
        Ok(Answer {
            is_refusal: result.is_error.unwrap_or(false),
            value: result.structured_content.unwrap_or_default(),
        })
    }
}
