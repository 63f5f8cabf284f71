//! Signing in and out, and the theme.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use maud::{Markup, html};

use crate::Dashboard;
use crate::door::{Peer, SignInRefused, Who};
use crate::fields::Fields;
use crate::guarding::{is_same_origin, session_cookie, session_of, theme_of};
use crate::layout;
use crate::visit::{Answer, Theme, Visit, html_response, is_own_page, see_other};

/// The longest secret that is looked at.
const SECRET_MAX_BYTES: usize = 1_000;

fn form(to: &str, problem: Option<&str>) -> Markup {
    html! {
        div.page-head { h1 { "Sign in" } }
        form.panel.stack method="post" action="/ui/login" {
            input type="hidden" name="to" value=(to);
            @if let Some(problem) = problem { p.notice.bad role="alert" { (problem) } }
            label for="secret" { "Access key, or the password of the installation" }
            input #secret type="password" name="secret" autocomplete="current-password" required autofocus
                maxlength=(SECRET_MAX_BYTES);
            p.muted {
                "A key begins with " code { "rem_" } "; " code { "remembrancer keys create" } " makes one. What it opens here is what it opens to an agent. The password, of " code { "remembrancer password set" } ", opens everything."
            }
            button.primary type="submit" { "Sign in" }
        }
    }
}

pub(crate) async fn page(
    State(dashboard): State<Arc<Dashboard>>,
    headers: HeaderMap,
    fields: Fields,
) -> Response {
    let to = fields.get("to").filter(|to| is_own_page(to)).unwrap_or("/ui");
    if session_of(&dashboard, &headers).is_some_and(|session| session.who != Who::Anyone) {
        return see_other(to);
    }
    let html = layout::bare(theme_of(&headers), "Sign in", &form(to, None));
    html_response(StatusCode::OK, html.into_string())
}

pub(crate) async fn log_in(
    State(dashboard): State<Arc<Dashboard>>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let fields = Fields::parse(&body);
    let to = fields.get("to").filter(|to| is_own_page(to)).unwrap_or("/ui");
    let refused = |status: StatusCode, problem: &str| {
        let form = form(to, Some(problem));
        html_response(status, layout::bare(theme_of(&headers), "Sign in", &form).into_string())
    };
    if !is_same_origin(&headers) {
        return refused(StatusCode::FORBIDDEN, "The form came from another page. Sign in here.");
    }
    let Some(secret) = fields.get("secret").filter(|secret| secret.len() <= SECRET_MAX_BYTES) else {
        return refused(StatusCode::BAD_REQUEST, "Paste a key.");
    };
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |Extension(Peer(peer))| peer);
    match (dashboard.options.sign_in)(secret.to_owned(), peer).await {
        Ok(who) => {
            if let Some(before) = session_of(&dashboard, &headers) {
                dashboard.sessions.end(&before);
            }
            let (_, token) = dashboard.sessions.begin(who);
            let mut response = see_other(to);
            if let Some(cookie) = session_cookie(&headers, &token) {
                response.headers_mut().append(header::SET_COOKIE, cookie);
            }
            response
        }
        Err(SignInRefused::Wrong) => {
            refused(StatusCode::UNAUTHORIZED, "That opens nothing: it is unknown, revoked or expired.")
        }
        Err(SignInRefused::Narrow) => refused(
            StatusCode::FORBIDDEN,
            "This key is for some sets of tools alone, and these pages show everything. Use one without --sets.",
        ),
        Err(SignInRefused::Wait(wait)) => {
            let seconds = wait.as_secs() + 1;
            let problem =
                format!("Too many keys that open nothing came from this address; try again in {seconds} s.");
            let mut response = refused(StatusCode::TOO_MANY_REQUESTS, &problem);
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
            response
        }
        Err(SignInRefused::Unavailable(reason)) => refused(StatusCode::SERVICE_UNAVAILABLE, &reason),
    }
}

pub(crate) async fn log_out(visit: Visit, headers: HeaderMap) -> Answer {
    visit.dashboard.sessions.end(&visit.session);
    let mut response = see_other("/ui/login");
    if let Some(cookie) = session_cookie(&headers, "") {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

pub(crate) async fn set_theme(visit: Visit) -> Answer {
    let theme = Theme::parse(visit.form.get("theme").unwrap_or_default());
    let mut response = see_other(&visit.back("overview"));
    let cookie =
        format!("remembrancer-theme={}; Path=/ui; Max-Age=31536000; SameSite=Strict", theme.as_str());
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(response)
}
