//! Bodies of requests: how large they may be, how long they may take, how many at a time, and what is wrong with
//! one that is not taken in.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout, timeout_at};

use super::connections::{Answering, Connection};
use super::shares;
use crate::access::Caller;
use crate::message::{
    self, Fault, INVALID_REQUEST, MESSAGE_MAX_BYTES, NOT_NOW, PARSE_ERROR, SMALL_MAX_BYTES,
};

/// How long a whole body may take, and any part of it.
const BODY_TIMEOUT: Duration = Duration::from_secs(120);
const PART_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a large body waits for its turn.
const TURN_TIMEOUT: Duration = Duration::from_secs(20);
/// Kilobytes of large bodies that are held at the same time, by all requests to this process.
static HELD_KB: Semaphore = Semaphore::const_new(2 * MESSAGE_MAX_BYTES / 1024);

/// Why a body is not taken in.
struct Refused {
    status: StatusCode,
    code: i64,
    reason: String,
    retry: bool,
}

impl Refused {
    fn new(status: StatusCode, code: i64, reason: impl Into<String>) -> Self {
        Self { status, code, reason: reason.into(), retry: false }
    }

    fn too_large() -> Self {
        let reason = format!("the body is larger than {MESSAGE_MAX_BYTES} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, INVALID_REQUEST, reason)
    }

    fn too_slow() -> Self {
        let reason = format!(
            "the body did not come in time: {} s a part, {} s in all",
            PART_TIMEOUT.as_secs(),
            BODY_TIMEOUT.as_secs()
        );
        Self::new(StatusCode::REQUEST_TIMEOUT, INVALID_REQUEST, reason)
    }
}

impl From<Refused> for Response {
    fn from(refused: Refused) -> Self {
        let mut response = faulty(refused.status, &Fault::new(Value::Null, refused.code, &refused.reason));
        let headers = response.headers_mut();
        // What is left of the body is not waited for.
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        if refused.retry {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}

/// Reads the body of a page's request within the same limits; what it is, the page looks at.
pub(super) async fn take_in_of_page(mut request: Request, next: Next) -> Response {
    let connection = request.extensions_mut().remove::<Arc<Connection>>();
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let (bytes, held) = match read(&parts.headers, body, None).await {
        Ok(read) => read,
        Err(refused) => {
            let mut response = (refused.status, refused.reason).into_response();
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            return response;
        }
    };
    let answering = connection.map(Connection::answering);
    let response = next.run(Request::from_parts(parts, bytes.into())).await;
    drop(held);
    response.map(|body| Body::new(Answer { body, _answering: answering }))
}

fn faulty(status: StatusCode, fault: &Fault) -> Response {
    (status, Json(fault.answer())).into_response()
}

/// Reads the body within the limits and looks it through, before the protocol library makes a tree of it. A large
/// one is looked through and read on another thread, so that only its sender waits for it.
pub(super) async fn take_in(mut request: Request, next: Next) -> Response {
    let connection = request.extensions_mut().remove::<Arc<Connection>>();
    let share = request.extensions().get::<Caller>().and_then(Caller::key).map(shares::Bytes::of);
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    if !is_json(request.headers()) {
        let reason = "Unsupported Media Type: Content-Type must be application/json";
        return (StatusCode::UNSUPPORTED_MEDIA_TYPE, reason).into_response();
    }
    let (parts, body) = request.into_parts();
    let (bytes, held) = match read(&parts.headers, body, share.as_ref()).await {
        Ok(read) => read,
        Err(refused) => return refused.into(),
    };
    let answering = connection.map(Connection::answering);
    let response = if bytes.len() <= SMALL_MAX_BYTES {
        match message::check(&bytes) {
            Ok(()) => next.run(Request::from_parts(parts, bytes.into())).await,
            Err(fault) => faulty(StatusCode::BAD_REQUEST, &fault),
        }
    } else {
        answer_large(Request::from_parts(parts, bytes.clone().into()), bytes, next).await
    };
    drop(held);
    let response = explain_misshapen(response).await;
    response.map(|body| Body::new(Answer { body, _answering: answering }))
}

/// The body of an answer. Until it is sent, its connection counts as busy and is not closed in favour of another.
struct Answer {
    body: Body,
    _answering: Option<Answering>,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let essence = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = essence.map(|value| value.split_once(';').map_or(value, |(essence, _)| essence));
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// The permits that a body holds: of the bytes for large bodies of all requests, where it is large, and of the bytes of its key.
type Taken = (Option<SemaphorePermit<'static>>, Option<OwnedSemaphorePermit>);

/// The whole body, with its permits.
async fn read(
    headers: &HeaderMap,
    mut body: Body,
    share: Option<&shares::Bytes>,
) -> Result<(Bytes, Taken), Refused> {
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if declared.is_some_and(|length: usize| length > MESSAGE_MAX_BYTES) {
        return Err(Refused::too_large());
    }
    let mut of_key = share.map(|share| take(share, declared.unwrap_or(SMALL_MAX_BYTES))).transpose()?;
    let mut held = match declared {
        Some(length) if length > SMALL_MAX_BYTES => Some(hold(length).await?),
        _ => None,
    };
    let deadline = Instant::now() + BODY_TIMEOUT;
    // Memory that is reserved and not yet written to costs nothing.
    let mut bytes = Vec::with_capacity(declared.unwrap_or(0));
    loop {
        let part = timeout_at(deadline, timeout(PART_TIMEOUT, body.frame())).await;
        let Ok(Ok(part)) = part else { return Err(Refused::too_slow()) };
        let Some(part) = part else { return Ok((bytes.into(), (held, of_key))) };
        let part = part.map_err(|_| {
            Refused::new(
                StatusCode::BAD_REQUEST,
                PARSE_ERROR,
                "the body broke off or was sent in broken chunks",
            )
        })?;
        let Ok(part) = part.into_data() else { continue };
        if part.len() > MESSAGE_MAX_BYTES - bytes.len() {
            return Err(Refused::too_large());
        }
        if held.is_none() && bytes.len() + part.len() > SMALL_MAX_BYTES {
            // The length is not known beforehand.
            drop(of_key.take());
            of_key = share.map(|share| take(share, MESSAGE_MAX_BYTES)).transpose()?;
            held = Some(hold(MESSAGE_MAX_BYTES).await?);
        }
        bytes.extend_from_slice(&part);
    }
}

fn take(share: &shares::Bytes, bytes: usize) -> Result<OwnedSemaphorePermit, Refused> {
    share.take(bytes).ok_or_else(|| Refused {
        retry: true,
        ..Refused::new(
            StatusCode::TOO_MANY_REQUESTS,
            NOT_NOW,
            format!("this key has {MESSAGE_MAX_BYTES} bytes in flight already; try again in a few seconds"),
        )
    })
}

async fn hold(bytes: usize) -> Result<SemaphorePermit<'static>, Refused> {
    let turn = timeout(TURN_TIMEOUT, HELD_KB.acquire_many(bytes.div_ceil(1024) as u32)).await;
    turn.ok().and_then(Result::ok).ok_or_else(|| Refused {
        retry: true,
        ..Refused::new(
            StatusCode::SERVICE_UNAVAILABLE,
            NOT_NOW,
            "too many large requests are being read; try again in a few seconds",
        )
    })
}

/// Answers a request with a large body. The protocol library parses the body when the future of its answer is first polled, so the first
/// poll runs on a blocking thread; the rest is awaited here.
async fn answer_large(request: Request, bytes: Bytes, next: Next) -> Response {
    let begun = message::apart(move || {
        message::check(&bytes)?;
        drop(bytes);
        let mut answering = Box::pin(next.run(request));
        let first = answering.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        Ok((first, answering))
    });
    match begun.await {
        Some(Ok((Poll::Ready(response), _))) => response,
        Some(Ok((Poll::Pending, answering))) => answering.await,
        Some(Err(fault)) => faulty(StatusCode::BAD_REQUEST, &fault),
        None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// How the protocol library begins its plain text about JSON that is no message.
const UNREADABLE: &str = "fail to deserialize request body ";

/// JSON that is no message is answered as JSON-RPC says. Only the answer is looked at.
async fn explain_misshapen(response: Response) -> Response {
    if response.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return response;
    }
    let (parts, body) = response.into_parts();
    let Ok(text) = axum::body::to_bytes(body, 64 * 1024).await else { return parts.into_response() };
    match std::str::from_utf8(&text).ok().and_then(|text| text.strip_prefix(UNREADABLE)) {
        Some(fault) => faulty(StatusCode::BAD_REQUEST, &Fault::new(Value::Null, INVALID_REQUEST, fault)),
        None => Response::from_parts(parts, text.into()),
    }
}
