//! The pages for people, behind the same checks of host, origin, bodies and keys as MCP.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use memory_core::id::Namespace;
use memory_dashboard::{AskAgent, CountRequest, Options, Peer, SignIn, SignInRefused, Who};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::credentials::{SignedIn, peer_of};
use super::guard::Guard;
use super::{ListenOptions, body};
use crate::access::Caller;
use crate::stopping::refuse_while_stopping;
use crate::tools::{Connection, GraphHome};

pub(super) fn router(
    options: &ListenOptions,
    connection: &Connection,
    guard: &Arc<Guard>,
    stop: &CancellationToken,
) -> Router {
    let of_sign_in = Arc::clone(guard);
    let sign_in: SignIn = Arc::new(move |secret, peer| {
        let guard = Arc::clone(&of_sign_in);
        Box::pin(async move { who(guard.credentials().sign_in(&secret, peer).await?) })
    });
    let of_count = Arc::clone(guard);
    let count_request: CountRequest = Arc::new(move |key| of_count.credentials().count(key));
    let asked = connection.registry();
    let ask_agent: AskAgent = Arc::new(move |namespace: Namespace, arguments: Value| {
        let registry = Arc::clone(&asked);
        Box::pin(
            async move { registry.answer_to_agent("recall", arguments, namespace, GraphHome::Threads).await },
        )
    });
    let options = Options {
        readiness: connection.readiness().clone(),
        stop: stop.clone(),
        namespace: Namespace::new(&options.namespace).unwrap_or_default(),
        is_local: guard.credentials().is_open(),
        is_read_only: options.tools.read_only,
        sign_in,
        count_request,
        ask_agent,
        settings: options.shown_settings.clone(),
        version: env!("CARGO_PKG_VERSION"),
    };
    memory_dashboard::router(options, |pages| pages.layer(middleware::from_fn(body::take_in_of_page)))
        .layer(middleware::from_fn_with_state(Arc::clone(guard), admit))
        .layer(middleware::from_fn_with_state(stop.clone(), refuse_while_stopping))
}

/// Nothing of a body is read, and no page is shown, for another host or to the page of another.
async fn admit(State(guard): State<Arc<Guard>>, mut request: Request, next: Next) -> Response {
    if let Err(refusal) = guard.check_address(&request) {
        return refusal;
    }
    let peer = Peer(peer_of(&request));
    request.extensions_mut().insert(peer);
    next.run(request).await
}

fn who(signed_in: SignedIn) -> Result<Who, SignInRefused> {
    let caller = match signed_in {
        SignedIn::Administrator(mark) => return Ok(Who::Password(mark)),
        SignedIn::As(caller) => caller,
    };
    match caller {
        Caller::Token => Ok(Who::Token),
        Caller::Key(_, grant) if !grant.toolsets.is_empty() => Err(SignInRefused::Narrow),
        Caller::Key(key, _) => Ok(Who::Key(key)),
        Caller::Owner | Caller::Anonymous { .. } => Err(SignInRefused::Wrong),
    }
}
