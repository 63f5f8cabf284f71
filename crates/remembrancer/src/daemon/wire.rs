//! What is said on the socket before, or instead of, MCP: requests and replies, each a line of JSON.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;

use crate::http::ListenOptions;
use crate::settings::{self, Settings};
use crate::tools::ToolSettings;

/// What a client of the socket requests.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "want", rename_all = "snake_case")]
pub(crate) enum ClientRequest {
    /// MCP on this connection, with the tools of the client's own settings; older clients do not send them.
    Mcp {
        namespace: String,
        #[serde(default)]
        tools: ToolSettings,
        /// The file that the graph of this connection is kept in, absolute.
        #[serde(default)]
        graph_file: Option<PathBuf>,
        /// Jobs queued through this connection get bulk priority.
        #[serde(default)]
        in_bulk: bool,
    },
    /// The same with a key, which alone says what the connection may do. A request of its own, so that a process which does not
    /// know keys refuses it.
    McpWithKey {
        key: String,
        /// None is the default of the key.
        namespace: Option<String>,
        tools: ToolSettings,
        in_bulk: bool,
    },
    /// An HTTP listener for as long as this connection is open; answered with one line, a [`ListenReply`].
    Listen(Box<ListenOptions>),
    /// Where the process listens for others; answered with one line, a list of addresses.
    Listeners,
    /// Keeps the process, and so its database, running as long as this connection is open; answered with one line, a
    /// [`HoldReply`].
    Hold,
    /// Replaces the vectors of all passages by those of another model; answered with lines, each a [`ReembedReply`].
    Reembed { model_dir: PathBuf, keep_old: bool },
}

impl ClientRequest {
    /// MCP as the settings have it: with the key of REMEMBRANCER_KEY if there is one, else as the owner.
    pub(crate) fn mcp(
        settings: &Settings,
        tools: ToolSettings,
        graph_file: Option<PathBuf>,
        in_bulk: bool,
    ) -> anyhow::Result<Self> {
        let namespace = settings.namespace()?.to_string();
        let Some(key) = settings::key()? else {
            return Ok(Self::Mcp { namespace, tools, graph_file, in_bulk });
        };
        if graph_file.is_some() {
            anyhow::bail!(
                "MEMORY_FILE_PATH is for the owner of the data, not for the holder of REMEMBRANCER_KEY; unset one of them"
            );
        }
        let namespace = settings.given.flag("REMEMBRANCER_NAMESPACE").map(|_| namespace);
        Ok(Self::McpWithKey { key, namespace, tools, in_bulk })
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ListenReply {
    Listening(String),
    Refused(String),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum HoldReply {
    /// The database accepts connections. With name and version of the extractor that the process uses.
    Held {
        extractor: String,
        version: i32,
    },
    Refused(String),
}

pub(crate) async fn send_line<T: Serialize>(
    write: &mut (impl AsyncWriteExt + Unpin),
    message: &T,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    write.write_all(&line).await?;
    write.flush().await
}
