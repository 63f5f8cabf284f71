//! The pages, each in the file of its name.

pub(crate) mod access;
pub(crate) mod browse;
pub(crate) mod commitments;
pub(crate) mod entities;
pub(crate) mod graph;
pub(crate) mod import;
pub(crate) mod jobs;
pub(crate) mod login;
pub(crate) mod memory;
pub(crate) mod namespaces;
pub(crate) mod overview;
pub(crate) mod search;
pub(crate) mod settings;
pub(crate) mod timeline;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};

use crate::visit::{Answer, Visit, see_other};
use crate::{BODY_MAX_BYTES, Dashboard};

/// To the first page.
pub(crate) async fn home(visit: Visit) -> Answer {
    Ok(see_other(&visit.at("overview")))
}

type Routes = Router<Arc<Dashboard>>;

/// Pages of one namespace.
pub(crate) fn of_a_namespace() -> Routes {
    let pages = Router::new()
        .route("/", get(home))
        .route("/overview", get(overview::page))
        .route("/overview/growth", get(overview::growth))
        .route("/overview/live", get(overview::live))
        .route("/search", get(search::page))
        .route("/memory/{id}", get(memory::page))
        .route("/memory/{id}/forget", get(memory::confirm).post(memory::forget))
        .route("/memory/{id}/edit", post(memory::edit))
        .route("/event", get(memory::of_event))
        .route("/browse", get(browse::page).post(browse::act))
        .route("/import", get(import::page).post(import::note))
        .route("/import/file", post(import::file).layer(DefaultBodyLimit::max(BODY_MAX_BYTES)))
        .route("/timeline", get(timeline::page))
        .route("/commitments", get(commitments::commitments))
        .route("/decisions", get(commitments::decisions))
        .route("/entities", get(entities::list))
        .route("/entities/merges", get(entities::merges))
        .route("/entities/decide", post(entities::decide))
        .route("/entities/{id}", get(entities::page))
        .route("/graph", get(graph::page))
        .route("/graph/data", get(graph::data))
        .route("/jobs", get(jobs::page).post(jobs::act))
        .route("/namespaces", get(namespaces::page))
        .route("/namespaces/export", get(namespaces::export))
        .route("/namespaces/import", post(namespaces::import).layer(DefaultBodyLimit::max(BODY_MAX_BYTES)))
        .route("/namespaces/forget", post(namespaces::forget));
    Router::new().nest("/ui/n/{namespace}", pages)
}

/// Pages of the whole installation; the namespace in their addresses is the one that was looked at before.
pub(crate) fn of_the_installation() -> Routes {
    Router::new()
        .route("/ui/n/{namespace}/audit", get(access::audit))
        .route("/ui/n/{namespace}/keys", get(access::keys).post(access::change_key))
        .route("/ui/n/{namespace}/settings", get(settings::page))
}
