//! A request of somebody who was let in: the memory, their namespace, and how they are answered.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::Markup;
use memory_core::id::Namespace;
use memory_engine::Memory;
use memory_engine::audit::Entry;

use crate::Dashboard;
use crate::door::{Visitor, Who};
use crate::failure::Failure;
use crate::fields::Fields;
use crate::layout;
use crate::sessions::{Notice, Session};

/// Light, dark, or what the system says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    pub(crate) fn parse(text: &str) -> Self {
        match text {
            "light" => Self::Light,
            "dark" => Self::Dark,
            _ => Self::System,
        }
    }
}

/// What a handler works with.
#[derive(Clone)]
pub(crate) struct Visit {
    pub(crate) dashboard: Arc<Dashboard>,
    pub(crate) memory: Arc<Memory>,
    pub(crate) visitor: Visitor,
    pub(crate) session: Session,
    pub(crate) namespace: Namespace,
    pub(crate) theme: Theme,
    /// The address of the page, for what leads back to it.
    pub(crate) here: String,
    /// The form that came, if one did.
    pub(crate) form: Arc<Fields>,
}

pub(crate) type Answer = Result<Response, Failure>;

impl Visit {
    /// The address of a page of the namespace.
    pub(crate) fn at(&self, page: &str) -> String {
        format!("/ui/n/{}/{page}", self.namespace)
    }

    /// A page in its frame.
    #[expect(clippy::unnecessary_wraps, reason = "what handlers end with")]
    pub(crate) fn page(&self, title: &str, body: &Markup) -> Answer {
        Ok(self.framed(StatusCode::OK, title, body))
    }

    pub(crate) fn framed(&self, status: StatusCode, title: &str, body: &Markup) -> Response {
        let notice = self.dashboard.sessions.take_notice(&self.session);
        let html = layout::frame(self, title, notice.as_ref(), body).into_string();
        html_response(status, html)
    }

    /// After a change: the page where it shows, which says what was done.
    pub(crate) fn done(&self, to: &str, said: impl Into<String>) -> Answer {
        self.leave(to, Notice { is_error: false, text: said.into() })
    }

    pub(crate) fn not_done(&self, to: &str, said: impl Into<String>) -> Answer {
        self.leave(to, Notice { is_error: true, text: said.into() })
    }

    #[expect(clippy::unnecessary_wraps, reason = "what handlers end with")]
    pub(crate) fn leave(&self, to: &str, notice: Notice) -> Answer {
        self.dashboard.sessions.leave_notice(&self.session, notice);
        Ok(see_other(to))
    }

    /// Where the form says that its page is; only a page of ours.
    pub(crate) fn back(&self, otherwise: &str) -> String {
        let to = self.form.get("back").filter(|to| is_own_page(to));
        to.map_or_else(|| self.at(otherwise), str::to_owned)
    }

    pub(crate) fn needs_writer(&self) -> Result<(), Failure> {
        if self.visitor.may_write() {
            Ok(())
        } else if self.visitor.is_read_only {
            Err(Failure::new(
                StatusCode::FORBIDDEN,
                "This server runs with --read-only: nothing is changed through it.",
            ))
        } else {
            Err(Failure::forbidden("a key of the role writer"))
        }
    }

    pub(crate) fn needs_admin(&self) -> Result<(), Failure> {
        if self.visitor.is_admin() { Ok(()) } else { Err(Failure::forbidden("a key of the role admin")) }
    }

    pub(crate) fn needs_owner(&self) -> Result<(), Failure> {
        if self.visitor.is_owner() {
            Ok(())
        } else {
            Err(Failure::forbidden(
                "REMEMBRANCER_TOKEN or the administrator's password; keys are not managed by keys",
            ))
        }
    }

    /// Whether the session still stands, for what goes on after its request.
    pub(crate) async fn is_still_open(&self) -> bool {
        let access = self.memory.access();
        match &self.session.who {
            Who::Token | Who::Password(_) => self.dashboard.sessions.lives(&self.session),
            Who::Anyone => access.has_keys().await.is_ok_and(|has_keys| !has_keys),
            Who::Key(key) => {
                let grant = access.opened_by(key).await.ok().flatten();
                self.dashboard.sessions.lives(&self.session)
                    && grant.is_some_and(|grant| grant.namespace(Some(self.namespace.as_str())).is_some())
            }
        }
    }

    /// Records what was done or read, as the same by a tool is recorded.
    pub(crate) async fn record(&self, action: &str, is_change: bool, ids: Vec<String>, outcome: &str) {
        let Some((key, who)) = self.visitor.audited_as() else { return };
        let audit = self.memory.audit();
        if !audit.records(is_change) {
            return;
        }
        let entry = Entry {
            key,
            who,
            namespace: Some(self.namespace.clone()),
            action: action.to_owned(),
            ids,
            outcome: outcome.to_owned(),
        };
        audit.record(&entry).await;
    }
}

/// Whether it is an address of these pages and leads nowhere else.
pub(crate) fn is_own_page(to: &str) -> bool {
    (to == "/ui" || to.starts_with("/ui/"))
        && !to.contains("//")
        && !to.contains('\\')
        && to.chars().all(|c| c.is_ascii_graphic())
}

pub(crate) fn see_other(to: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(to) = HeaderValue::from_str(to) {
        response.headers_mut().insert(header::LOCATION, to);
    }
    response
}

pub(crate) fn html_response(status: StatusCode, html: String) -> Response {
    let mut response = (status, html).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}

impl IntoResponse for Failure {
    /// Without a frame, for what happens before anybody is let in; in a page it is framed by [`crate::guarding`].
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl<S: Sync> FromRequestParts<S> for Visit {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, StatusCode> {
        parts.extensions.get::<Self>().cloned().ok_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_pages_are_led_back_to() {
        for own in ["/ui", "/ui/n/default/browse?order=newest"] {
            assert!(is_own_page(own), "{own}");
        }
        for other in [
            "//evil.example",
            "/ui//evil.example",
            "https://evil.example",
            "/uix",
            "/mcp",
            "/ui/\\x",
            "/ui/ a",
        ] {
            assert!(!is_own_page(other), "{other}");
        }
    }
}
