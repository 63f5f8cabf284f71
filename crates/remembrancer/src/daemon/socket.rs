//! Connections to the socket of a data folder: who may connect, and what each request is answered with.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use memory_core::access::GivenKey;
use memory_core::id::Namespace;
use rmcp::ServiceExt;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;

use super::clients::Clients;
use super::wire::{ClientRequest, HoldReply, ListenReply, send_line};
use super::{PATIENCE, shown};
use crate::http::{self, ListenOptions, Listening};
use crate::instance_paths::is_ours;
use crate::lines::Lines;
use crate::reembed::Reembedder;
use crate::tools::{Connection, GraphHome, KeyOfConnection, ToolRegistry};

pub(super) async fn accept(
    socket: UnixListener,
    registry: Arc<ToolRegistry>,
    reembedder: Arc<Reembedder>,
    clients: Arc<Clients>,
    stop: CancellationToken,
) {
    let connections = tokio_util::task::TaskTracker::new();
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => break,
            accepted = socket.accept() => match accepted {
                Ok((stream, _)) if is_ours(&stream) => stream,
                Ok(_) => {
                    tracing::warn!("a connection from a process of another user was refused");
                    continue;
                }
                Err(error) => {
                    tracing::warn!(%error, "failed to accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let (registry, connected, stop) = (Arc::clone(&registry), clients.enter(), stop.child_token());
        let (reembedder, clients) = (Arc::clone(&reembedder), Arc::clone(&clients));
        connections.spawn(async move {
            let _connected = connected;
            if let Err(error) = handle_connection(stream, registry, (&reembedder, &clients), stop).await {
                tracing::debug!(error = format!("{error:#}"), "a client connection ended with an error");
            }
        });
    }
    connections.close();
    connections.wait().await;
}

/// A listener for another process, which is told when nobody could come in by it.
async fn open_listener(
    options: ListenOptions,
    registry: Arc<ToolRegistry>,
    stop: &CancellationToken,
) -> anyhow::Result<Listening> {
    let listening = http::listen(options, Arc::clone(&registry), stop.clone()).await?;
    if let Err(error) = listening.check_keys(registry.readiness()).await {
        stop.cancel();
        listening.closed(PATIENCE).await;
        return Err(error);
    }
    Ok(listening)
}

async fn handle_connection(
    stream: UnixStream,
    registry: Arc<ToolRegistry>,
    (reembedder, clients): (&Reembedder, &Arc<Clients>),
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    let mut line = String::new();
    (&mut read).take(64 * 1024).read_line(&mut line).await?;
    match serde_json::from_str(&line)? {
        ClientRequest::Mcp { namespace, tools, graph_file, in_bulk } => {
            let namespace = Namespace::new(&namespace)?;
            let graph = GraphHome::open(graph_file, tools.read_only, &registry, &namespace).await;
            let connection = Connection::new(registry, namespace, graph, &tools).in_bulk(in_bulk);
            let running = connection.serve_with_ct(Lines::new(read, write), stop).await?;
            running.waiting().await?;
        }
        ClientRequest::McpWithKey { key, namespace, tools, in_bulk } => {
            let key = GivenKey::parse(&key).context("what was given is no key")?;
            let connection = Connection::new(registry, Namespace::default(), GraphHome::Threads, &tools);
            let connection = connection.in_bulk(in_bulk).with_key(KeyOfConnection { key, namespace });
            let running = connection.serve_with_ct(Lines::new(read, write), stop).await?;
            running.waiting().await?;
        }
        ClientRequest::Listen(options) => {
            let stop = stop.child_token();
            let reply = match open_listener(*options, registry, &stop).await {
                Ok(listening) => {
                    let address = shown(&listening);
                    let _listens = clients.listens(&address);
                    send_line(&mut write, &ListenReply::Listening(address)).await?;
                    // The listener stays open as long as the process that requested it is connected.
                    let _ = stop.run_until_cancelled(read.read_line(&mut line)).await;
                    stop.cancel();
                    listening.closed(PATIENCE).await;
                    return Ok(());
                }
                Err(error) => ListenReply::Refused(format!("{error:#}")),
            };
            send_line(&mut write, &reply).await?;
        }
        ClientRequest::Listeners => send_line(&mut write, &clients.listeners()).await?,
        ClientRequest::Hold => {
            let reply = match registry.memory().await {
                Ok(memory) => {
                    let (extractor, version) = memory.extractor_identity();
                    HoldReply::Held { extractor: extractor.to_owned(), version }
                }
                Err(readiness) => HoldReply::Refused(readiness.to_string()),
            };
            send_line(&mut write, &reply).await?;
            let _ = stop.run_until_cancelled(read.read_line(&mut line)).await;
        }
        ClientRequest::Reembed { model_dir, keep_old } => {
            let working = reembedder.reembed(&mut read, &mut write, &registry, model_dir, keep_old);
            stop.run_until_cancelled(working).await.transpose()?;
        }
    }
    Ok(())
}
