//! The dashboard: pages by which people see, correct and delete what is remembered, understand why something was found, and
//! see to the queue. Every page does what a verb of [`Memory`](memory_engine::Memory) does, and no more.

mod assets;
mod door;
mod failure;
mod fields;
mod guarding;
mod layout;
mod pages;
mod sessions;
mod show;
mod visit;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{get, post};

pub use door::{AskAgent, CountRequest, Options, Peer, SignIn, SignInRefused, Who};

use self::sessions::Sessions;

/// The largest body of a request: that of an archive or a text that comes in.
pub const BODY_MAX_BYTES: usize = 48 * 1024 * 1024;
/// The same of a form.
const FORM_MAX_BYTES: usize = 12 * 1024 * 1024;

/// What all requests share.
pub(crate) struct Dashboard {
    pub(crate) options: Options,
    pub(crate) sessions: Sessions,
}

/// The pages, from `/ui` on. `limited` puts a bound on how bodies of requests are read; none is read before its sender is known,
/// but for the small one that signs in.
pub fn router(options: Options, limited: impl Fn(Router) -> Router) -> Router {
    let dashboard = Arc::new(Dashboard { options, sessions: Sessions::default() });
    let pages = Router::new()
        .route("/ui", get(pages::home))
        .route("/ui/", get(pages::home))
        .route("/ui/logout", post(pages::login::log_out))
        .route("/ui/theme", post(pages::login::set_theme))
        .merge(pages::of_a_namespace())
        .merge(pages::of_the_installation())
        .layer(DefaultBodyLimit::max(FORM_MAX_BYTES))
        .route_layer(middleware::from_fn(guarding::only_own_forms))
        .with_state(Arc::clone(&dashboard));
    let pages =
        limited(pages).route_layer(middleware::from_fn_with_state(Arc::clone(&dashboard), guarding::admit));
    let login = Router::new()
        .route("/ui/login", get(pages::login::page).post(pages::login::log_in))
        .with_state(Arc::clone(&dashboard));
    let login = limited(login).route_layer(middleware::from_fn(guarding::only_small));
    Router::new()
        .route("/ui/assets/{version}/{file}", get(assets::serve))
        .merge(login)
        .merge(pages)
        .layer(middleware::map_response(guarding::secure))
}
