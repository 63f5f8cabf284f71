//! A client of OAuth that does each step by hand, so that tests can do one of them wrongly.

use reqwest::header::{COOKIE, HOST, LOCATION, ORIGIN, SET_COOKIE};
use reqwest::{RequestBuilder, StatusCode, Url, redirect};
use serde_json::{Value, json};

use crate::process::{DataDir, Server, http_client};

/// What clients know the server by; requests go to loopback.
pub const PUBLIC: &str = "https://memory.example";
pub const PASSWORD: &str = "correct horse battery staple";
pub const CALLBACK: &str = "http://127.0.0.1:4711/callback";
/// The pair of RFC 7636.
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A browser, as far as it is needed.
pub struct Browser {
    client: reqwest::Client,
    base: String,
    pub cookie: String,
}

/// What a page or an endpoint answered.
#[derive(Debug)]
pub struct Answered {
    pub status: StatusCode,
    pub location: Option<Url>,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Answered {
    async fn of(request: RequestBuilder) -> Self {
        let response = request.send().await.expect("it is answered");
        let location = response.headers().get(LOCATION).and_then(|at| at.to_str().ok()?.parse().ok());
        let (status, headers) = (response.status(), response.headers().clone());
        Self { status, location, headers, text: response.text().await.expect("text") }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The value of a hidden field of the page.
    pub fn field(&self, name: &str) -> String {
        let (_, rest) = self
            .text
            .split_once(&format!("name=\"{name}\" value=\""))
            .unwrap_or_else(|| panic!("{name}: {self:?}"));
        let value = rest.split('"').next().unwrap_or_default();
        value
            .replace("&quot;", "\"")
            .replace("&#39;", "'")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&")
    }

    /// A parameter of the address that the browser is sent to.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let location = self.location.as_ref().unwrap_or_else(|| panic!("it goes nowhere: {self:?}"));
        location.query_pairs().find(|(other, _)| other == name).map(|(_, value)| value.into_owned())
    }
}

pub fn encoded(pairs: &[(&str, &str)]) -> String {
    let url = Url::parse_with_params("http://x/", pairs).expect("an address");
    url.query().unwrap_or_default().to_owned()
}

/// A server with OAuth and its password.
pub async fn start(data_dir: &DataDir) -> Server {
    start_as(data_dir, PUBLIC).await
}

pub async fn start_as(data_dir: &DataDir, public: &str) -> Server {
    let server = Server::start_as(data_dir.command("remembrancer"), &["--public-url", public]).await;
    let mut set = data_dir.command("remembrancer");
    set.env("REMEMBRANCER_PASSWORD", PASSWORD).args(["password", "set"]);
    assert!(crate::process::Ran::of(&mut set).await.status.success());
    server
}

/// The parameters of a sound request for consent.
pub fn asked(client_id: &str) -> Vec<(&str, &str)> {
    vec![
        ("response_type", "code"),
        ("client_id", client_id),
        ("redirect_uri", CALLBACK),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("state", "a state"),
        ("scope", "memory:read memory:write"),
        ("resource", "https://memory.example/mcp"),
    ]
}

impl Browser {
    pub fn new(server: &Server) -> Self {
        let _ = http_client();
        let client = reqwest::Client::builder().redirect(redirect::Policy::none()).build().expect("a client");
        Self { client, base: server.url.replace("/mcp", ""), cookie: String::new() }
    }

    pub async fn get(&self, path: &str) -> Answered {
        Answered::of(self.client.get(format!("{}{path}", self.base))).await
    }

    /// A form as programs send it.
    pub async fn post(&self, path: &str, pairs: &[(&str, &str)]) -> Answered {
        let request = self.client.post(format!("{}{path}", self.base)).body(encoded(pairs));
        Answered::of(request.header("Content-Type", "application/x-www-form-urlencoded")).await
    }

    pub async fn post_json(&self, path: &str, body: &Value) -> Answered {
        Answered::of(self.client.post(format!("{}{path}", self.base)).json(body)).await
    }

    /// A client that names itself; gives its id.
    pub async fn register(&self) -> String {
        let body = json!({"client_name": "Test client", "redirect_uris": [CALLBACK, "https://claude.ai/api/mcp/auth_callback"]});
        let answered = self.post_json("/oauth/register", &body).await;
        assert_eq!(answered.status, StatusCode::CREATED, "{answered:?}");
        answered.json()["client_id"].as_str().expect("an id").to_owned()
    }

    /// The page that asks for the password, or why there is none.
    pub async fn ask(&mut self, pairs: &[(&str, &str)]) -> Answered {
        let answered = self.get(&format!("/oauth/authorize?{}", encoded(pairs))).await;
        if let Some(cookie) = answered.headers.get(SET_COOKIE).and_then(|cookie| cookie.to_str().ok()) {
            cookie.split(';').next().unwrap_or_default().clone_into(&mut self.cookie);
        }
        answered
    }

    /// A form of a page, as the browser sends it from there.
    pub async fn submit(&self, pairs: &[(&str, &str)]) -> Answered {
        self.submit_from(PUBLIC, pairs).await
    }

    pub async fn submit_from(&self, origin: &str, pairs: &[(&str, &str)]) -> Answered {
        let request = self.client.post(format!("{}/oauth/authorize", self.base)).body(encoded(pairs));
        let request =
            request.header(ORIGIN, origin).header(COOKIE, &self.cookie).header(HOST, "memory.example");
        Answered::of(request.header("Content-Type", "application/x-www-form-urlencoded")).await
    }

    /// The page that asks for the decision.
    pub async fn log_in(&mut self, pairs: &[(&str, &str)]) -> Answered {
        let login = self.ask(pairs).await;
        assert_eq!(login.status, StatusCode::OK, "{login:?}");
        let (csrf, request) = (login.field("csrf"), login.field("request"));
        self.submit(&[("csrf", &csrf), ("request", &request), ("password", PASSWORD)]).await
    }

    /// Where the browser is sent when the owner allows it.
    pub async fn allow(&mut self, pairs: &[(&str, &str)], role: &str, namespaces: &str) -> Answered {
        let page = self.log_in(pairs).await;
        let (csrf, ticket) = (page.field("csrf"), page.field("ticket"));
        let form = [
            ("csrf", &*csrf),
            ("ticket", &ticket),
            ("role", role),
            ("namespaces", namespaces),
            ("decision", "allow"),
        ];
        self.submit(&form).await
    }

    /// A code for this client.
    pub async fn code(&mut self, client_id: &str, role: &str, namespaces: &str) -> String {
        let answered = self.allow(&asked(client_id), role, namespaces).await;
        answered.parameter("code").unwrap_or_else(|| panic!("no code: {answered:?}"))
    }

    pub async fn exchange(&self, client_id: &str, code: &str, verifier: &str) -> Answered {
        let form = [
            ("grant_type", "authorization_code"),
            ("client_id", client_id),
            ("code", code),
            ("code_verifier", verifier),
            ("redirect_uri", CALLBACK),
            ("resource", "https://memory.example/mcp"),
        ];
        self.post("/oauth/token", &form).await
    }

    pub async fn refresh(&self, client_id: &str, refresh: &str) -> Answered {
        let form = [("grant_type", "refresh_token"), ("client_id", client_id), ("refresh_token", refresh)];
        self.post("/oauth/token", &form).await
    }

    /// The whole way: gives the access and the refresh token.
    pub async fn tokens(&mut self, client_id: &str, role: &str, namespaces: &str) -> (String, String) {
        let code = self.code(client_id, role, namespaces).await;
        pair(&self.exchange(client_id, &code, VERIFIER).await)
    }
}

/// The access and the refresh token of an answer.
pub fn pair(answered: &Answered) -> (String, String) {
    assert_eq!(answered.status, StatusCode::OK, "{answered:?}");
    let json = answered.json();
    let text = |name: &str| json[name].as_str().unwrap_or_else(|| panic!("{name}: {answered:?}")).to_owned();
    (text("access_token"), text("refresh_token"))
}
