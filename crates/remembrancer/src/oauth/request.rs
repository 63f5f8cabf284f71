//! What a client asks the authorization server for: the parameters of RFC 6749, each at most once.

use memory_core::access::Role;
use serde::{Deserialize, Serialize};
use url::{Url, form_urlencoded};

use super::clients::Client;
use super::{OAuth, Problem, scope_of};

const PARAMETER_MAX_BYTES: usize = 2_048;

/// Parameters of a query or a form.
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Refuses one that is there twice: other software may read either.
    pub(super) fn parse(encoded: &[u8]) -> Result<Self, Problem> {
        let mut all: Vec<(String, String)> = Vec::new();
        for (name, value) in form_urlencoded::parse(encoded).into_owned() {
            // RFC 8707 lets a client name several resources; there is one here.
            if name != "resource" && all.iter().any(|(other, _)| *other == name) {
                return Err(Problem::new("invalid_request", "a parameter is there twice"));
            }
            all.push((name, value));
        }
        Ok(Self(all))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(other, value)| other == name && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn needed(&self, name: &str) -> Result<&str, Problem> {
        self.get(name).ok_or_else(|| Problem::new("invalid_request", format!("{name} is missing")))
    }

    /// The resource that is meant; `None` where none is named.
    pub(super) fn resource(&self, oauth: &OAuth) -> Result<Option<String>, Problem> {
        let mut named =
            self.0.iter().filter(|(name, value)| name == "resource" && !value.is_empty()).peekable();
        if named.peek().is_none() {
            return Ok(None);
        }
        if named.all(|(_, resource)| oauth.resource_named(resource).is_some()) {
            return Ok(Some(oauth.resource.clone()));
        }
        let why = format!("tokens of this server are for {} alone", oauth.resource);
        Err(Problem::new("invalid_target", why))
    }
}

/// A request for consent that can be answered, as it is kept while the owner decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ConsentRequest {
    pub(super) client_id: String,
    /// As the client calls itself.
    pub(super) client_name: String,
    /// An operator has named it.
    pub(super) is_of_operator: bool,
    pub(super) redirect_uri: String,
    pub(super) state: Option<String>,
    pub(super) challenge: String,
    /// The role that was asked for.
    pub(super) role: String,
}

impl ConsentRequest {
    /// The address that an answer is sent to, with these parameters, and always who sends it (RFC 9207).
    pub(super) fn answer(&self, oauth: &OAuth, parameters: &[(&str, &str)]) -> String {
        answer(oauth, &self.redirect_uri, self.state.as_deref(), parameters)
    }

    /// Host and port that the answer goes to, or the scheme of a program's own.
    pub(super) fn redirect_host(&self) -> String {
        redirect_host(&self.redirect_uri)
    }
}

pub(super) fn redirect_host(uri: &str) -> String {
    let Ok(url) = Url::parse(uri) else { return String::new() };
    match (url.scheme(), url.host_str()) {
        ("http" | "https", Some(host)) => {
            url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
        }
        (scheme, _) => format!("{scheme}:"),
    }
}

fn answer(oauth: &OAuth, redirect_uri: &str, state: Option<&str>, parameters: &[(&str, &str)]) -> String {
    let Ok(mut url) = Url::parse(redirect_uri) else { return redirect_uri.to_owned() };
    {
        let mut query = url.query_pairs_mut();
        query.extend_pairs(parameters).extend_pairs(state.map(|state| ("state", state)));
        query.append_pair("iss", &oauth.public);
    }
    url.into()
}

/// Why a request for consent cannot be answered.
pub(super) enum Refused {
    /// To be shown: it is not known, or not sure, where an answer would go.
    Here(Problem),
    /// To be sent to the client.
    Redirect(String),
}

/// Checks a request of a client that is known and whose address is one of its own.
pub(super) fn check(
    oauth: &OAuth,
    parameters: &Parameters,
    client: &Client,
    redirect_uri: &str,
) -> Result<ConsentRequest, Refused> {
    let state = parameters.get("state");
    if state.is_some_and(|state| state.len() > PARAMETER_MAX_BYTES) {
        return Err(Refused::Here(Problem::new("invalid_request", "state is longer than 2048 bytes")));
    }
    let send = |problem: &Problem| {
        let parameters = [("error", problem.code), ("error_description", problem.description.as_str())];
        Refused::Redirect(answer(oauth, redirect_uri, state, &parameters))
    };
    let needed = |name: &str| parameters.needed(name).map_err(|problem| send(&problem));
    let refuse = |code, why: &str| Err(send(&Problem::new(code, why)));
    if needed("response_type")? != "code" {
        return refuse("unsupported_response_type", "there is the response_type code only");
    }
    if parameters.get("response_mode").is_some_and(|mode| mode != "query") {
        return refuse("invalid_request", "there is the response_mode query only");
    }
    if parameters.get("code_challenge_method") != Some("S256") {
        return refuse("invalid_request", "code_challenge_method must be S256");
    }
    let challenge = needed("code_challenge")?;
    let is_base64url = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if challenge.len() != 43 || !challenge.bytes().all(is_base64url) {
        return refuse("invalid_request", "code_challenge is no SHA-256 in base64url");
    }
    parameters.resource(oauth).map_err(|problem| send(&problem))?;
    Ok(ConsentRequest {
        client_id: client.id.clone(),
        client_name: client.name.clone(),
        is_of_operator: client.is_of_operator,
        redirect_uri: redirect_uri.to_owned(),
        state: state.map(str::to_owned),
        challenge: challenge.to_owned(),
        role: asked_role(parameters.get("scope").unwrap_or_default()).to_string(),
    })
}

/// The highest role among the scopes, of which others are ignored; a writer where none is named. Nobody asks for an admin's.
fn asked_role(scopes: &str) -> Role {
    let mut roles = [Role::Writer, Role::Reader].into_iter();
    let asked = roles.find(|role| scopes.split(' ').any(|scope| scope == scope_of(*role)));
    asked.unwrap_or(Role::Writer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_that_is_there_twice_is_refused() {
        assert!(Parameters::parse(b"client_id=a&client_id=b").is_err());
        let parsed = Parameters::parse(b"resource=a&resource=b&state=x%20y&empty=").expect("it is sound");
        assert_eq!((parsed.get("state"), parsed.get("empty")), (Some("x y"), None));
    }

    #[test]
    fn the_highest_role_that_is_asked_for_is_proposed_but_never_an_admin() {
        assert_eq!(asked_role(""), Role::Writer);
        assert_eq!(asked_role("memory:read"), Role::Reader);
        assert_eq!(asked_role("openid memory:read memory:write"), Role::Writer);
        assert_eq!(asked_role("memory:read memory:admin"), Role::Reader);
    }

    #[test]
    fn the_host_of_an_address_is_what_its_browser_goes_to() {
        for (uri, host) in [
            ("https://claude.ai/api/mcp/auth_callback", "claude.ai"),
            ("https://claude.ai@evil.example/x", "evil.example"),
            ("http://127.0.0.1:4711/callback", "127.0.0.1:4711"),
            ("cursor://anysphere.cursor-mcp/oauth", "cursor:"),
        ] {
            assert_eq!(redirect_host(uri), host, "{uri}");
        }
    }
}
