//! Bodies of requests that are answered before they are read, as refusals are. The connection can be used again only
//! when such a body has been received: a client that sends it after the head, and then asks again on the connection
//! that it kept, would find it closed.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::http::{HeaderValue, Response, header};
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::sync::oneshot;

/// How many bytes of an unread body are received and discarded, and for how long.
const MAX_BYTES: usize = 64 * 1024;
const PATIENCE: Duration = Duration::from_millis(250);

/// The body of a request that is handed back when its reader drops it.
pub(super) struct Lent {
    body: Option<Incoming>,
    back: Option<oneshot::Sender<Incoming>>,
}

/// Receives the unread rest of a [`Lent`] body.
pub(super) struct Rest(oneshot::Receiver<Incoming>);

pub(super) fn lend(body: Incoming) -> (Lent, Rest) {
    let (back, rest) = oneshot::channel();
    (Lent { body: Some(body), back: Some(back) }, Rest(rest))
}

impl Rest {
    /// Receives what was left unread, or says in the answer that the connection ends with it.
    pub(super) async fn settle<B>(mut self, response: &mut Response<B>) {
        let Ok(body) = self.0.try_recv() else { return };
        if !matches!(tokio::time::timeout(PATIENCE, is_received(body)).await, Ok(true)) {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

async fn is_received(mut body: Incoming) -> bool {
    let mut bytes = 0;
    if body.size_hint().lower() > MAX_BYTES as u64 {
        return false;
    }
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        bytes += frame.data_ref().map_or(0, Bytes::len);
        if bytes > MAX_BYTES {
            return false;
        }
    }
    true
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let (Some(body), Some(back)) = (self.body.take(), self.back.take())
            && !body.is_end_stream()
        {
            let _ = back.send(body);
        }
    }
}

impl Body for Lent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}
