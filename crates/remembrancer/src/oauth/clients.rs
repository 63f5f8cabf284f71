//! Clients, of which none has a secret: where their answers may go, what they may be called, and how they register themselves
//! (RFC 7591).

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use memory_core::Invalid;
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::request::redirect_host;
use super::settings::is_loopback;
use super::{OAuth, Problem, body, json_response, peer};

const NAME_MAX_CHARS: usize = 64;
pub(super) const URI_MAX_BYTES: usize = 512;
pub(super) const URIS_MAX: usize = 10;
/// Hosts whose pages a client that names itself may send answers to, besides loopback.
const OPEN_HOSTS: [&str; 3] = ["claude.ai", "claude.com", "chatgpt.com"];
/// Schemes that are a browser's, or the network's, and no program's own.
const CLOSED_SCHEMES: [&str; 14] = [
    "about",
    "blob",
    "chrome",
    "data",
    "file",
    "filesystem",
    "ftp",
    "http",
    "javascript",
    "mailto",
    "resource",
    "vbscript",
    "view-source",
    "ws",
];

/// A client that may ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) is_of_operator: bool,
    pub(super) redirect_uris: Vec<String>,
}

impl Client {
    /// The address that answers go to: the one that was given, if it is one of the client's; its only one if none was.
    pub(super) fn redirect_uri(&self, given: Option<&str>) -> Result<String, Problem> {
        let found = match (given, self.redirect_uris.as_slice()) {
            (Some(given), uris) => uris.iter().any(|uri| is_same(uri, given)).then(|| given.to_owned()),
            (None, [only]) => Some(only.clone()),
            (None, _) => None,
        };
        found.ok_or_else(|| {
            Problem::new("invalid_request", "redirect_uri is none that this client has registered")
        })
    }
}

/// Exactly the same, but for the port on loopback, which programs get when they start (RFC 8252).
fn is_same(registered: &str, given: &str) -> bool {
    if registered == given {
        return true;
    }
    let without_port = |text: &str| {
        let mut url = Url::parse(text).ok().filter(|url| url.scheme() == "http" && is_loopback(url))?;
        url.set_port(None).ok()?;
        Some(url)
    };
    without_port(registered).zip(without_port(given)).is_some_and(|(registered, given)| registered == given)
}

/// What a client says of itself.
#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    pub(super) client_id: Option<String>,
    pub(super) client_name: Option<String>,
    #[serde(default)]
    pub(super) redirect_uris: Vec<String>,
    pub(super) token_endpoint_auth_method: Option<String>,
    grant_types: Option<Vec<String>>,
}

/// https, or loopback.
pub(super) fn is_web(uri: &str) -> bool {
    let url = Url::parse(uri).ok().filter(|url| is_plain(url, uri));
    url.is_some_and(|url| url.scheme() == "https" || url.scheme() == "http" && is_loopback(&url))
}

/// An address that a client which names itself may have.
fn is_open(uri: &str) -> bool {
    let is_known =
        |url: &Url| url.host_str().is_some_and(|host| OPEN_HOSTS.contains(&host)) && url.port().is_none();
    is_web(uri) && Url::parse(uri).is_ok_and(|url| is_loopback(&url) || is_known(&url))
}

/// Checks an address that an operator names: also one of a scheme that is a program's own.
pub(crate) fn check_redirect_uri(uri: &str) -> Result<(), Invalid> {
    let is_own = |url: &Url| {
        !CLOSED_SCHEMES.contains(&url.scheme()) && url.scheme() != "https" && url.scheme() != "wss"
    };
    let url = Url::parse(uri).ok().filter(|url| is_plain(url, uri));
    if is_web(uri) || url.is_some_and(|url| is_own(&url)) {
        return Ok(());
    }
    Err(Invalid(format!(
        "{uri:?} is no address to send answers to; use https, http on loopback, or the scheme of a program, without a fragment"
    )))
}

fn is_plain(url: &Url, text: &str) -> bool {
    text.len() <= URI_MAX_BYTES
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none()
        && text.bytes().all(|b| b.is_ascii_graphic() && b != b'\\')
}

/// A name that can be shown: without what moves the cursor or turns the direction of writing.
pub(crate) fn shown_name(name: Option<&str>, otherwise: &str) -> String {
    let is_hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let name: String = name.unwrap_or_default().chars().filter(|c| !is_hidden(*c)).collect();
    let name: String = name.trim().chars().take(NAME_MAX_CHARS).collect();
    if name.trim().is_empty() {
        otherwise.chars().take(NAME_MAX_CHARS).collect()
    } else {
        name.trim().to_owned()
    }
}

/// RFC 7591: a client names itself. Its answers go to the hosts of [`OPEN_HOSTS`] or to its own machine.
pub(super) async fn register(oauth: &OAuth, request: Request) -> Response {
    registered(oauth, request).await.unwrap_or_else(IntoResponse::into_response)
}

async fn registered(oauth: &OAuth, request: Request) -> Result<Response, Problem> {
    oauth.limits.register.begin(peer(&request))?;
    let body = body(request, "application/json").await?;
    let refuse = |code, why: String| Err(Problem::new(code, why));
    let Ok(metadata) = serde_json::from_slice::<Metadata>(&body) else {
        return refuse("invalid_client_metadata", "the body is no metadata of a client".to_owned());
    };
    let uris = metadata.redirect_uris;
    if uris.is_empty() || uris.len() > URIS_MAX {
        return refuse("invalid_redirect_uri", format!("there must be 1 to {URIS_MAX} redirect_uris"));
    }
    if !uris.iter().all(|uri| is_open(uri)) {
        let why = format!(
            "a redirect_uri leads neither to loopback nor to {}; the owner can name this client with `remembrancer clients add`",
            OPEN_HOSTS.join(", ")
        );
        return refuse("invalid_redirect_uri", why);
    }
    if metadata.grant_types.is_some_and(|types| !types.iter().any(|one| one == "authorization_code")) {
        return refuse(
            "invalid_client_metadata",
            "there is the grant type authorization_code only".to_owned(),
        );
    }
    let name = shown_name(
        metadata.client_name.as_deref(),
        &uris.first().map_or_else(String::new, |uri| redirect_host(uri)),
    );
    let client = oauth.memory().await?.oauth().register(&name, uris, false).await?;
    let answer = json!({
        "client_id": client.id,
        "client_id_issued_at": client.created_at.as_second(),
        "client_name": client.name,
        "redirect_uris": client.redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    });
    Ok(json_response(StatusCode::CREATED, &answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_names_itself_has_answers_sent_to_known_hosts_or_its_own_machine() {
        for good in [
            "https://claude.ai/api/mcp/auth_callback",
            "https://chatgpt.com/connector/oauth/x",
            "http://127.0.0.1:1/callback",
            "http://localhost/callback",
            "http://[::1]:9/",
        ] {
            assert!(is_open(good), "{good}");
        }
        for bad in [
            "https://evil.example/callback",
            "https://claude.ai.evil.example/",
            "https://evil.example/?claude.ai",
            "https://claude.ai@evil.example/",
            "https://evil.example\\@claude.ai/",
            "https://claude.ai:8443/callback",
            "https://claude.ai/callback#fragment",
            "http://claude.ai/callback",
            "http://127.0.0.1.evil.example/",
            "javascript:alert(1)",
            "cursor://x/y",
            "//claude.ai/",
            "",
        ] {
            assert!(!is_open(bad), "{bad}");
        }
        assert!(check_redirect_uri("cursor://anysphere.cursor-mcp/oauth").is_ok());
        for bad in ["javascript:alert(1)", "data:text/html,x", "http://evil.example/", "https://a#b", "x y"] {
            assert!(check_redirect_uri(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_address_is_the_registered_one_exactly_but_for_the_port_on_loopback() {
        assert!(is_same("http://127.0.0.1/callback", "http://127.0.0.1:4711/callback"));
        for (registered, given) in [
            ("http://127.0.0.1/callback", "http://127.0.0.1:4711/callback/.."),
            ("http://127.0.0.1/callback", "http://localhost:4711/callback"),
            ("http://127.0.0.1/callback", "https://127.0.0.1:4711/callback"),
            ("http://127.0.0.1/callback", "http://127.0.0.1:4711/callback?x=y"),
            ("https://claude.ai/callback", "https://claude.ai:8443/callback"),
            ("https://claude.ai/callback", "https://claude.ai/callback/"),
        ] {
            assert!(!is_same(registered, given), "{registered} {given}");
        }
    }

    #[test]
    fn a_name_is_shown_without_what_turns_the_writing() {
        assert_eq!(shown_name(Some(" Claude\u{202e}\n "), "x"), "Claude");
        assert_eq!(shown_name(Some("\u{200b}"), "host"), "host");
        assert_eq!(shown_name(Some(&"é".repeat(100)), "x").chars().count(), 64);
    }
}
