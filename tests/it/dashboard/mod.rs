//! The pages for people, over HTTP against the real program.

mod admission;
mod pages;
mod safety;

use std::collections::BTreeMap;
use std::time::Duration;

use memory_tests::process::Server;
use reqwest::header::{CONTENT_TYPE, COOKIE, ORIGIN, SET_COOKIE};
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(30);
const PAGES: [&str; 15] = [
    "overview",
    "search",
    "search?q=release",
    "browse",
    "import",
    "timeline",
    "commitments",
    "decisions",
    "entities",
    "entities/merges",
    "graph",
    "jobs",
    "namespaces",
    "audit",
    "settings",
];

/// A browser, as far as pages without scripts need one.
struct Browser {
    client: reqwest::Client,
    base: String,
    cookies: BTreeMap<String, String>,
}

/// An answer that was read.
struct Shown {
    status: StatusCode,
    headers: reqwest::header::HeaderMap,
    text: String,
}

impl Browser {
    fn at(server: &Server) -> Self {
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        Self {
            client: client.build().expect("a client"),
            base: server.url.trim_end_matches("/mcp").to_owned(),
            cookies: BTreeMap::new(),
        }
    }

    async fn signed_in(server: &Server, key: &str) -> Self {
        let mut browser = Self::at(server);
        let shown = browser.post_at("/ui/login", &[("secret", key)]).await;
        assert_eq!(shown.status, StatusCode::SEE_OTHER, "{}", shown.text);
        browser
    }

    async fn taken(&mut self, response: Response) -> Shown {
        for cookie in response.headers().get_all(SET_COOKIE) {
            let cookie = cookie.to_str().expect("text").split(';').next().unwrap_or_default();
            let (name, value) = cookie.split_once('=').expect("a pair");
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        let (status, headers) = (response.status(), response.headers().clone());
        Shown { status, headers, text: response.text().await.expect("text") }
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = self.client.request(method, format!("{}{path}", self.base));
        if cookies.is_empty() { request } else { request.header(COOKIE, cookies.join("; ")) }
    }

    async fn get_at(&mut self, path: &str) -> Shown {
        let response = self.request(Method::GET, path).send().await.expect("it is answered");
        self.taken(response).await
    }

    /// A page of the namespace.
    async fn get(&mut self, page: &str) -> Shown {
        self.get_at(&format!("/ui/n/default/{page}")).await
    }

    async fn post_at(&mut self, path: &str, form: &[(&str, &str)]) -> Shown {
        let request = self.request(Method::POST, path).header(ORIGIN, &self.base);
        let response = with_form(request, form).send().await.expect("it is answered");
        self.taken(response).await
    }

    /// What forms of this session bring.
    async fn csrf(&mut self) -> String {
        let page = self.get("overview").await.text;
        let (_, after) = page.split_once("data-csrf=\"").expect("a page has one");
        after.split('"').next().expect("it ends").to_owned()
    }

    /// A form of a page of ours.
    async fn post(&mut self, page: &str, form: &[(&str, &str)]) -> Shown {
        let csrf = self.csrf().await;
        let form: Vec<(&str, &str)> = form.iter().copied().chain([("csrf", csrf.as_str())]).collect();
        self.post_at(&format!("/ui/n/default/{page}"), &form).await
    }
}

fn with_form(request: reqwest::RequestBuilder, form: &[(&str, &str)]) -> reqwest::RequestBuilder {
    let encoded = |text: &str| text.bytes().map(|b| format!("%{b:02X}")).collect::<String>();
    let pairs: Vec<String> =
        form.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(pairs.join("&"))
}

async fn remembered(server: &Server, arguments: Value) -> String {
    let answer = server.ask("remember", arguments).await;
    answer["id"].as_str().expect("an id").to_owned()
}
