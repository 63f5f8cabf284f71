//! The door of the pages: the session of a request, whether its form is ours, what its sender may see; and the headers of every
//! answer.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::HeaderName;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use memory_core::id::Namespace;
use memory_engine::Memory;

use crate::door::{Visitor, Who};
use crate::failure::Failure;
use crate::fields::{Fields, query};
use crate::sessions::{LIFETIME, Session};
use crate::visit::{Theme, Visit, html_response, see_other};
use crate::{Dashboard, FORM_MAX_BYTES, layout};

/// What a page may load and be put into: nothing that is not ours, and no script or style within it.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);
const CSRF_HEADER: &str = "x-csrf-token";
const FOREIGN_FORM: &str =
    "This form is too old, or comes from another page. Load the page again and repeat it.";

/// The headers that every answer has.
pub(crate) async fn secure(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    // With none at all forms would come without their origin.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    );
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Instances on other ports of a machine have cookies of their own.
fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    match host.rsplit_once(':') {
        Some((_, port)) if port.bytes().all(|b| b.is_ascii_digit()) => format!("remembrancer-{port}"),
        _ => "remembrancer".to_owned(),
    }
}

fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(';')).find_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name).then_some(value)
    })
}

pub(crate) fn theme_of(headers: &HeaderMap) -> Theme {
    cookie(headers, "remembrancer-theme").map(Theme::parse).unwrap_or_default()
}

pub(crate) fn is_https(headers: &HeaderMap) -> bool {
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
    origin.is_some_and(|origin| origin.starts_with("https://"))
}

/// The cookie of a session; scripts do not see it, and other sites do not bring it.
pub(crate) fn session_cookie(headers: &HeaderMap, token: &str) -> Option<HeaderValue> {
    let name = cookie_name(headers);
    let secure = if is_https(headers) { "; Secure" } else { "" };
    let age = if token.is_empty() { 0 } else { LIFETIME.as_secs() };
    HeaderValue::from_str(&format!(
        "{name}={token}; Path=/ui; Max-Age={age}; HttpOnly; SameSite=Strict{secure}"
    ))
    .ok()
}

pub(crate) fn session_of(dashboard: &Dashboard, headers: &HeaderMap) -> Option<Session> {
    dashboard.sessions.find(cookie(headers, &cookie_name(headers))?)
}

/// Whether the request is from a page of this very address.
pub(crate) fn is_same_origin(headers: &HeaderMap) -> bool {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    match (text(&header::ORIGIN), text(&header::HOST)) {
        (Some(origin), Some(host)) => {
            let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
        }
        _ => text(&HeaderName::from_static("sec-fetch-site")) == Some("same-origin"),
    }
}

/// Somebody who may come in, with the cookie of a session that has just begun.
struct Admitted {
    visitor: Visitor,
    session: Session,
    cookie: Option<HeaderValue>,
}

/// Who is not let in.
enum Closed {
    /// They have to sign in.
    Unknown,
    Failed(Failure),
}

async fn admitted(dashboard: &Dashboard, memory: &Memory, headers: &HeaderMap) -> Result<Admitted, Closed> {
    let failed = |error: memory_engine::EngineError| Closed::Failed(error.into());
    let access = memory.access();
    let is_read_only = dashboard.options.is_read_only;
    let visitor_of = |who: &Who, grant| Visitor { who: who.clone(), grant, is_read_only };
    let Some(session) = session_of(dashboard, headers) else {
        if !dashboard.options.is_local || access.has_keys().await.map_err(failed)? {
            return Err(Closed::Unknown);
        }
        let (session, token) = dashboard.sessions.begin(Who::Anyone);
        let cookie = session_cookie(headers, &token);
        return Ok(Admitted { visitor: visitor_of(&Who::Anyone, None), session, cookie });
    };
    let visitor = match &session.who {
        Who::Password(mark) if !memory.password().is_still(*mark).await.map_err(failed)? => {
            dashboard.sessions.end(&session);
            return Err(Closed::Unknown);
        }
        Who::Token | Who::Password(_) => visitor_of(&session.who, None),
        Who::Anyone if access.has_keys().await.map_err(failed)? => {
            dashboard.sessions.end(&session);
            return Err(Closed::Unknown);
        }
        Who::Anyone => visitor_of(&Who::Anyone, None),
        Who::Key(key) => {
            let Some(grant) = access.opened_by(key).await.map_err(failed)? else {
                dashboard.sessions.end(&session);
                return Err(Closed::Unknown);
            };
            if let Err(wait) = (dashboard.options.count_request)(&key.id) {
                return Err(Closed::Failed(too_many(wait)));
            }
            visitor_of(&session.who, Some(grant))
        }
    };
    Ok(Admitted { visitor, session, cookie: None })
}

fn too_many(wait: Duration) -> Failure {
    let reason = format!("This key sends too many requests; try again in {} s.", wait.as_secs() + 1);
    Failure::new(StatusCode::TOO_MANY_REQUESTS, reason)
}

/// The namespace that the address names, or the first that is open.
fn namespace_of(dashboard: &Dashboard, visitor: &Visitor, uri: &Uri) -> Result<Namespace, Failure> {
    let named = uri.path().strip_prefix("/ui/n/").and_then(|rest| rest.split('/').next());
    let Some(named) = named else {
        let first = visitor.grant.as_ref().and_then(|grant| grant.namespace(None));
        return Ok(first.unwrap_or(&dashboard.options.namespace).clone());
    };
    // Whether there is one of that name is not said.
    let closed = || Failure::new(StatusCode::FORBIDDEN, "This key is not for that namespace.");
    Namespace::new(named).ok().filter(|namespace| visitor.opens(namespace)).ok_or_else(closed)
}

fn is_form(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.is_some_and(|content_type| content_type.starts_with("application/x-www-form-urlencoded"))
}

/// The form of a request that changes something, if it is from a page of ours.
async fn own_form(session: &Session, request: Request) -> Result<(Request, Fields), Failure> {
    let foreign = || Failure::new(StatusCode::FORBIDDEN, FOREIGN_FORM);
    let (parts, body) = request.into_parts();
    if !is_same_origin(&parts.headers) {
        return Err(foreign());
    }
    let (body, form) = if is_form(&parts.headers) {
        let too_large = || Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "That is larger than a form may be.");
        let bytes: Bytes = to_bytes(body, FORM_MAX_BYTES).await.map_err(|_| too_large())?;
        let form = Fields::parse(&bytes);
        (axum::body::Body::empty(), form)
    } else {
        (body, Fields::default())
    };
    let given = parts.headers.get(CSRF_HEADER).and_then(|value| value.to_str().ok());
    if !session.is_from_own_form(given.or(form.get("csrf")).unwrap_or_default()) {
        return Err(foreign());
    }
    Ok((Request::from_parts(parts, body), form))
}

fn wants_json(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("application/json"))
}

fn plain(headers: &HeaderMap, theme: Theme, failure: &Failure) -> Response {
    if wants_json(headers) {
        let body = axum::Json(serde_json::json!({"error": failure.reason}));
        return (failure.status, body).into_response();
    }
    html_response(
        failure.status,
        layout::bare(theme, failure.title(), &layout::failed(failure)).into_string(),
    )
}

fn sign_in(request: &Request) -> Response {
    let here = request.uri().path_and_query().map_or("/ui", |address| address.as_str());
    let login = format!("/ui/login{}", query(&[("to", here)]));
    if request.method() != Method::GET || wants_json(request.headers()) {
        let reason = "You are signed out. Sign in again and repeat it.";
        let failure = Failure::new(StatusCode::UNAUTHORIZED, reason);
        return plain(request.headers(), theme_of(request.headers()), &failure);
    }
    if request.headers().contains_key("hx-request") {
        let mut response = StatusCode::OK.into_response();
        if let Ok(login) = HeaderValue::from_str(&login) {
            response.headers_mut().insert("hx-redirect", login);
        }
        return response;
    }
    see_other(&login)
}

/// The most bytes of the form that signs in.
const LOGIN_MAX_BYTES: u64 = 8 * 1024;

/// Refuses a body that is not small, before anything of it is read.
pub(crate) async fn only_small(request: Request, next: Next) -> Response {
    let declared =
        request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let is_small = declared.is_some_and(|length: u64| length <= LOGIN_MAX_BYTES);
    if request.method() == Method::POST && !is_small {
        return (StatusCode::PAYLOAD_TOO_LARGE, "That is larger than a key.\n").into_response();
    }
    next.run(request).await
}

/// Lets a change through only if it comes from a form of ours.
pub(crate) async fn only_own_forms(mut request: Request, next: Next) -> Response {
    if request.method() == Method::GET || request.method() == Method::HEAD {
        return next.run(request).await;
    }
    let Some(mut visit) = request.extensions_mut().remove::<Visit>() else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    match own_form(&visit.session, request).await {
        Ok((mut request, form)) => {
            visit.form = Arc::new(form);
            request.extensions_mut().insert(visit);
            next.run(request).await
        }
        Err(failure) => failure.into_response(),
    }
}

/// Lets a request through to its page, if its sender may see it.
pub(crate) async fn admit(
    State(dashboard): State<Arc<Dashboard>>,
    mut request: Request,
    next: Next,
) -> Response {
    let theme = theme_of(request.headers());
    let Some(memory) = dashboard.options.readiness.memory() else {
        let reason =
            "The memory is starting, or its database cannot be reached. This page tries again by itself.";
        let failure = Failure::new(StatusCode::SERVICE_UNAVAILABLE, reason);
        let mut response = plain(request.headers(), theme, &failure);
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        response.headers_mut().insert("refresh", HeaderValue::from_static("5"));
        return response;
    };
    let headers = request.headers().clone();
    let Admitted { visitor, session, cookie } = match admitted(&dashboard, &memory, &headers).await {
        Ok(admitted) => admitted,
        Err(Closed::Unknown) => return sign_in(&request),
        Err(Closed::Failed(failure)) => return plain(&headers, theme, &failure),
    };
    let namespace = match namespace_of(&dashboard, &visitor, request.uri()) {
        Ok(namespace) => namespace,
        Err(failure) => return plain(&headers, theme, &failure),
    };
    let here = request.uri().path_and_query().map_or_else(String::new, |address| address.as_str().to_owned());
    let visit = Visit { dashboard, memory, visitor, session, namespace, theme, here, form: Arc::default() };
    request.extensions_mut().insert(visit.clone());
    let mut response = next.run(request).await;
    if let Some(failure) = response.extensions_mut().remove::<Failure>() {
        response = if wants_json(&headers) {
            plain(&headers, theme, &failure)
        } else {
            visit.framed(failure.status, failure.title(), &layout::failed(&failure))
        };
    }
    if let Some(cookie) = cookie {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn a_form_is_from_this_address_or_it_is_foreign() {
        let own = [("host", "memory.example:3100"), ("origin", "https://memory.example:3100")];
        assert!(is_same_origin(&headers(&own)));
        for foreign in ["http://evil.example", "null", "http://memory.example", "memory.example:3100"] {
            assert!(
                !is_same_origin(&headers(&[("host", "memory.example:3100"), ("origin", foreign)])),
                "{foreign}"
            );
        }
        assert!(!is_same_origin(&headers(&[("host", "memory.example")])), "nobody says where it is from");
        assert!(is_same_origin(&headers(&[("host", "a"), ("sec-fetch-site", "same-origin")])));
        assert!(!is_same_origin(&headers(&[("host", "a"), ("sec-fetch-site", "same-site")])));
    }

    #[test]
    fn a_cookie_is_found_among_others_and_is_of_its_port() {
        let given =
            headers(&[("cookie", "a=b; remembrancer-3100=x; remembrancer=y"), ("host", "localhost:3100")]);
        assert_eq!(cookie(&given, &cookie_name(&given)), Some("x"));
        let secured =
            session_cookie(&headers(&[("host", "m.example"), ("origin", "https://m.example")]), "t");
        let secured = secured.expect("a header");
        assert_eq!(
            secured.to_str().expect("text"),
            "remembrancer=t; Path=/ui; Max-Age=604800; HttpOnly; SameSite=Strict; Secure"
        );
    }
}
