//! `/`: what this is and where the rest of it is, and by that whether a program that holds an address is one of ours.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::routing::get;
use axum::{Router, middleware};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::guard::{self, Guard};

/// The first line, by which another `serve` knows ours.
const NAME: &str = "Remembrancer: the memory that AI agents keep.";
/// How long whoever holds an address has for its answer.
const PATIENCE: Duration = Duration::from_secs(1);
const ANSWER_MAX_BYTES: u64 = 4 * 1024;
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// The same to everybody: neither a version nor anything of what is remembered.
pub(super) fn router(has_pages: bool, guard: Arc<Guard>) -> Router {
    let pages = if has_pages { "/ui      pages for people\n" } else { "" };
    let text = format!(
        "{NAME}\n\n/mcp     MCP over HTTP, for agents\n{pages}/livez   whether it runs\n/readyz  whether it is ready\n"
    );
    Router::new()
        .route("/", get(move || async move { text }))
        .layer(middleware::from_fn_with_state(guard, guard::admit_anybody))
}

/// Whether a server of this program answers at the addresses, within a short time.
pub(super) async fn answers_at(addresses: &[SocketAddr]) -> bool {
    let asked = async {
        let mut stream = TcpStream::connect(addresses).await?;
        stream.write_all(REQUEST).await?;
        let mut answer = Vec::new();
        stream.take(ANSWER_MAX_BYTES).read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&answer).contains(NAME))
    };
    matches!(tokio::time::timeout(PATIENCE, asked).await, Ok(Ok(true)))
}
