//! The authorization endpoint: the owner gives the password, sees who asks for what, and decides.
//!
//! Nothing is kept of a request before the password is right; then it is kept under a ticket, which only the page of the owner has and
//! which serves once. A form must come from a page of this server: its cookie and its field are the same random text.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use memory_core::Invalid;
use memory_core::access::{Grant, Role};
use memory_core::id::Namespace;
use memory_engine::oauth::NewConsent;
use memory_engine::password::PasswordCheck;
use subtle::ConstantTimeEq;

use super::client_lookup;
use super::clients::shown_name;
use super::pages::{self, Consent, Login};
use super::request::{self, ConsentRequest, Parameters, Refused};
use super::{OAuth, Problem, body, peer};

const COOKIE: &str = "remembrancer_consent";
/// How many namespaces the page names.
const NAMESPACES_SHOWN: usize = 100;

/// GET: the page that asks for the password.
pub(super) async fn ask(oauth: &OAuth, request: Request) -> Response {
    if let Err(problem) = oauth.limits.authorize.begin(peer(&request)) {
        return shown(&problem);
    }
    let query = request.uri().query().unwrap_or_default().to_owned();
    let csrf = cookie(request.headers()).unwrap_or_else(|| hex::encode(rand::random::<[u8; 32]>()));
    match understood(oauth, &query).await {
        Ok(asked) => login(oauth, &asked, &query, &csrf, None),
        Err(refused) => refusal(refused),
    }
}

/// POST: the password, or the decision.
pub(super) async fn decide(oauth: &OAuth, request: Request) -> Response {
    decided(oauth, request).await.unwrap_or_else(|problem| shown(&problem))
}

async fn decided(oauth: &OAuth, request: Request) -> Result<Response, Problem> {
    let peer = peer(&request);
    oauth.limits.authorize.begin(peer)?;
    let foreign = || Problem { status: StatusCode::FORBIDDEN, ..Problem::new("access_denied", FOREIGN) };
    let origin = request.headers().get(header::ORIGIN);
    if origin.is_some_and(|origin| origin.as_bytes() != oauth.public.as_bytes()) {
        return Err(foreign());
    }
    let csrf = cookie(request.headers()).ok_or_else(foreign)?;
    let form = Parameters::parse(&body(request, "application/x-www-form-urlencoded").await?)?;
    let is_same = form.needed("csrf")?.as_bytes().ct_eq(csrf.as_bytes());
    if !bool::from(is_same) {
        return Err(foreign());
    }
    match form.get("ticket") {
        Some(ticket) => answer(oauth, &form, ticket, &csrf).await,
        None => open(oauth, &form, peer, &csrf).await,
    }
}

const FOREIGN: &str = "this form does not come from this server's own page, or its cookie was refused; go back to the program \
                       and connect again";

/// What a query asks for, looked through from its beginning: nothing of it is taken from the page.
async fn understood(oauth: &OAuth, query: &str) -> Result<ConsentRequest, Refused> {
    let here = Refused::Here;
    let parameters = Parameters::parse(query.as_bytes()).map_err(here)?;
    let client =
        client_lookup::find(oauth, parameters.needed("client_id").map_err(here)?).await.map_err(here)?;
    let redirect_uri = client.redirect_uri(parameters.get("redirect_uri")).map_err(here)?;
    request::check(oauth, &parameters, &client, &redirect_uri)
}

/// Checks the password; shows what is asked for where it is right.
async fn open(
    oauth: &OAuth,
    form: &Parameters,
    peer: std::net::IpAddr,
    csrf: &str,
) -> Result<Response, Problem> {
    let query = form.needed("request")?;
    let asked = match understood(oauth, query).await {
        Ok(asked) => asked,
        Err(refused) => return Ok(refusal(refused)),
    };
    oauth.limits.password.begin(peer)?;
    let memory = oauth.memory().await?;
    let why = match memory.password().check(form.get("password").unwrap_or_default()).await? {
        PasswordCheck::Right(_) => {
            let known = memory.operations().namespaces().await?;
            return consent_page(oauth, &asked, csrf, &known, None).await;
        }
        PasswordCheck::Wrong => {
            tracing::warn!(%peer, "a wrong password was given at the consent page");
            "That is not the password."
        }
        PasswordCheck::NotSet => {
            "No password has been set. On the machine of the data, run: remembrancer password set"
        }
    };
    Ok(login(oauth, &asked, query, csrf, Some(why)))
}

/// The page with what is asked for, under a ticket of its own.
async fn consent_page(
    oauth: &OAuth,
    asked: &ConsentRequest,
    csrf: &str,
    known: &[Namespace],
    said: Option<&str>,
) -> Result<Response, Problem> {
    let kept = serde_json::to_value(asked).map_err(|_| Problem::unavailable())?;
    let ticket = oauth.memory().await?.oauth().begin_consent(&kept).await?;
    let known: Vec<&str> = known.iter().take(NAMESPACES_SHOWN).map(Namespace::as_str).collect();
    let consent = Consent {
        client: &asked.client_name,
        client_id: &asked.client_id,
        is_of_operator: asked.is_of_operator,
        redirect_host: &asked.redirect_host(),
        role: &asked.role,
        namespace: oauth.namespace.as_str(),
        known: &known,
        ticket: &ticket,
        csrf,
        said,
    };
    Ok(page(StatusCode::OK, pages::consent(&consent), Some(&asked.redirect_uri)))
}

/// The decision: a code for the client, or that the owner does not want it.
async fn answer(oauth: &OAuth, form: &Parameters, ticket: &str, csrf: &str) -> Result<Response, Problem> {
    let memory = oauth.memory().await?;
    let kept = memory.oauth().take_ticket(ticket).await?;
    let asked = kept.and_then(|kept| serde_json::from_value::<ConsentRequest>(kept).ok());
    let asked = asked.ok_or_else(|| {
        Problem::new(
            "invalid_request",
            "this page was answered already, or is too old; go back to the program and connect again",
        )
    })?;
    if form.get("decision") != Some("allow") {
        let denied = [("error", "access_denied"), ("error_description", "the owner did not allow it")];
        return Ok(redirect(&asked.answer(oauth, &denied)));
    }
    let grant = match grant(oauth, form, &asked) {
        Ok(grant) => grant,
        Err(Invalid(why)) => {
            let known = memory.operations().namespaces().await?;
            return consent_page(oauth, &asked, csrf, &known, Some(&why)).await;
        }
    };
    let new = NewConsent {
        client_id: &asked.client_id,
        grant: &grant,
        redirect_uri: &asked.redirect_uri,
        challenge: &asked.challenge,
    };
    let code = memory.oauth().consent(&new).await?;
    tracing::info!(client = asked.client_id, role = %grant.role, "the owner consented");
    Ok(redirect(&asked.answer(oauth, &[("code", &code)])))
}

/// What the owner has chosen. It is named after the client and where its answers go, so that no client passes for another.
fn grant(oauth: &OAuth, form: &Parameters, asked: &ConsentRequest) -> Result<Grant, Invalid> {
    let role = form.get("role").and_then(Role::parse);
    let role = role.ok_or_else(|| Invalid::new("Choose what it may do."))?;
    let names = form.get("namespaces").unwrap_or_default().split([',', ' ', '\r', '\n']);
    let namespaces = names.filter(|name| !name.is_empty()).map(Namespace::new);
    let namespaces = namespaces.collect::<Result<Vec<_>, _>>()?;
    let host: String = asked.redirect_host().chars().take(30).collect();
    let client: String = asked.client_name.chars().take(30).collect();
    let name = shown_name(Some(&format!("{client} ({host})")), "a client");
    Ok(Grant::new(&name, role, namespaces, Vec::new())?.bound_to(oauth.resource.clone()))
}

fn login(oauth: &OAuth, asked: &ConsentRequest, query: &str, csrf: &str, said: Option<&str>) -> Response {
    let login = Login {
        client: &asked.client_name,
        client_id: &asked.client_id,
        is_of_operator: asked.is_of_operator,
        redirect_host: &asked.redirect_host(),
        server: &oauth.public,
        request: query,
        csrf,
        said,
    };
    let status = if said.is_some() { StatusCode::FORBIDDEN } else { StatusCode::OK };
    let mut response = page(status, pages::login(&login), None);
    let secure = if oauth.is_tls { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={csrf}; Path=/oauth; Max-Age=3600; HttpOnly; SameSite=Strict{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// The random text that this browser was given.
fn cookie(headers: &HeaderMap) -> Option<String> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let (_, text) = pairs.find(|(name, _)| *name == COOKIE)?;
    let is_ours = text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    is_ours.then(|| text.to_owned())
}

fn refusal(refused: Refused) -> Response {
    match refused {
        Refused::Here(problem) => shown(&problem),
        Refused::Redirect(address) => redirect(&address),
    }
}

fn shown(problem: &Problem) -> Response {
    let mut response = page(problem.status, pages::problem(&problem.description), None);
    if let Some(seconds) = problem.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// 303, so that the form is not sent along.
fn redirect(address: &str) -> Response {
    let Ok(location) = HeaderValue::from_str(address) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut response = StatusCode::SEE_OTHER.into_response();
    response.headers_mut().insert(header::LOCATION, location);
    guarded(response, "default-src 'none'; frame-ancestors 'none'")
}

/// A page of ours. Browsers hold what a form leads to against the policy, the redirects of its answer included: `answers_to` is where
/// that of this form goes.
fn page(status: StatusCode, html: String, answers_to: Option<&str>) -> Response {
    let mut response = (status, html).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    let answers_to = answers_to.map_or_else(String::new, |uri| format!(" {}", source(uri)));
    let policy = format!(
        "default-src 'none'; style-src 'self'; form-action 'self'{answers_to}; base-uri 'none'; frame-ancestors 'none'"
    );
    guarded(response, &policy)
}

/// What a policy calls the place of an address. Websites may redirect further among themselves.
fn source(uri: &str) -> String {
    match url::Url::parse(uri) {
        Ok(url) if url.scheme() == "http" && url.domain().is_none() && uri.contains('[') => {
            "http:".to_owned()
        }
        Ok(url) if url.scheme() == "http" => url.origin().ascii_serialization(),
        Ok(url) => format!("{}:", url.scheme()),
        Err(_) => String::new(),
    }
}

fn guarded(mut response: Response, policy: &str) -> Response {
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_lets_the_answer_go_where_it_has_to() {
        assert_eq!(source("https://claude.ai/api/mcp/auth_callback"), "https:");
        assert_eq!(source("http://127.0.0.1:4711/callback"), "http://127.0.0.1:4711");
        assert_eq!(source("http://[::1]:4711/callback"), "http:");
        assert_eq!(source("cursor://x/y"), "cursor:");
    }

    #[test]
    fn a_cookie_that_is_not_ours_is_none() {
        let of = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::from_str(text).expect("a header"));
            cookie(&headers)
        };
        let ours = "a1".repeat(32);
        assert_eq!(of(&format!("x=y; {COOKIE}={ours}; z=1")), Some(ours.clone()));
        assert_eq!(of(&format!("other={ours}")), None);
        assert_eq!(of(&format!("{COOKIE}=\"><script>")), None);
    }
}
