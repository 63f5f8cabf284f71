//! `/`: what this is and where the rest of it is, and by that whether a program that holds an address is one of ours.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;
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
    Router::new()
        .route("/", get(move || async move { text(has_pages) }))
        .layer(middleware::from_fn_with_state(guard, guard::admit_anybody))
}

fn text(has_pages: bool) -> String {
    let pages = if has_pages { "/ui      pages for people\n" } else { "" };
    format!(
        "{NAME}\n\n/mcp     MCP over HTTP, for agents\n{pages}/livez   whether it runs\n/readyz  whether it is ready\n"
    )
}

/// Tells a browser, which has come to an address for agents or to none, what there is.
pub(super) async fn point_out(
    State((guard, has_pages)): State<(Arc<Guard>, bool)>,
    request: Request,
    next: Next,
) -> Response {
    let accepts = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let is_browser = accepts.is_some_and(|accept| accept.contains("text/html"))
        && request.method() == Method::GET
        && guard.check_address(&request).is_ok();
    let mut response = next.run(request).await;
    let reason = match response.status() {
        StatusCode::METHOD_NOT_ALLOWED => "This address is for agents; there is no page at it.",
        StatusCode::NOT_FOUND => "There is nothing at this address.",
        _ => return response,
    };
    let is_page = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| !kind.as_bytes().starts_with(b"text/plain"));
    if is_browser && !is_page {
        let headers = response.headers_mut();
        headers.remove(header::CONTENT_LENGTH);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        *response.body_mut() = format!("{reason}\n\n{}", text(has_pages)).into();
    }
    response
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

#[cfg(test)]
mod tests {
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;

    use super::super::credentials::Credentials;
    use super::super::shares::Requests;
    use super::*;

    #[tokio::test]
    async fn a_browser_is_told_what_there_is_and_an_agent_only_that_it_went_wrong() {
        let readiness = memory_engine::readiness::channel().1;
        let guard = Guard::new(&[], Credentials::new(None, true, readiness, Requests::new(1), None));
        let app = Router::new()
            .route("/mcp", axum::routing::post(async || "answered"))
            .layer(middleware::from_fn_with_state((Arc::new(guard), true), point_out));
        let app = TowerToHyperService::new(app);
        let said = async |path: &str, host: &str, accept: &str| {
            let request = Request::get(path).header(header::HOST, host).header(header::ACCEPT, accept);
            let request = request.body(axum::body::Body::empty()).expect("a request");
            let response = app.call(request).await.expect("an answer");
            let status = response.status().as_u16();
            let body = axum::body::to_bytes(response.into_body(), 4096).await.expect("a body");
            (status, String::from_utf8_lossy(&body).into_owned())
        };
        let page = "text/html,application/xhtml+xml,*/*;q=0.8";
        let (status, told) = said("/mcp", "localhost:3100", page).await;
        assert!(
            status == 405 && told.starts_with("This address is for agents") && told.contains("/ui"),
            "{told}"
        );
        let (status, told) = said("/nothing", "localhost:3100", page).await;
        assert!(status == 404 && told.contains(NAME), "{told}");
        assert_eq!(said("/mcp", "localhost:3100", "text/event-stream").await, (405, String::new()));
        assert_eq!(said("/nothing", "evil.example", page).await, (404, String::new()));
    }
}
