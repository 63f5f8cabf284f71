//! The settings as pages for people show them.

use super::{ListenSettings, Settings};
use crate::tools::ToolSettings;

/// Of these it is shown whether they are set, and no more.
const SECRETS: [&str; 4] =
    ["REMEMBRANCER_TOKEN", "REMEMBRANCER_TOKEN_FILE", "REMEMBRANCER_LLM_KEY", "QDRANT_API_KEY"];

fn is_secret(name: &str) -> bool {
    SECRETS.contains(&name) || ["KEY", "TOKEN", "PASSWORD", "SECRET"].iter().any(|part| name.contains(part))
}

/// An address without the name and the password that it may have.
fn without_credentials(value: &str) -> String {
    match value.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?))) {
        Some((scheme, (_, host))) => format!("{scheme}://…@{host}"),
        None => value.to_owned(),
    }
}

impl Settings {
    /// What the pages for people show: all settings of `serve` but what is a secret or may hold one.
    pub(crate) fn shown(&self, listen: &ListenSettings, tools: &ToolSettings) -> Vec<(String, String)> {
        let data_dir = self.data_dir().map(|dir| dir.display().to_string()).unwrap_or_default();
        let mut shown = vec![
            ("REMEMBRANCER_DATA_DIR".to_owned(), data_dir),
            ("REMEMBRANCER_NAMESPACE".to_owned(), self.namespace.clone()),
            (
                "DATABASE_URL".to_owned(),
                if self.store.database_url.is_some() { "set" } else { "" }.to_owned(),
            ),
        ];
        for name in SECRETS {
            let is_set = std::env::var_os(name).is_some_and(|value| !value.is_empty());
            shown.push((name.to_owned(), if is_set { "set" } else { "" }.to_owned()));
        }
        let sections = [listen.shown(), tools.environment(), self.of_the_process()].into_iter().flatten();
        let open = sections.filter(|(name, _)| !is_secret(name));
        shown.extend(open.map(|(name, value)| (name.to_owned(), without_credentials(&value))));
        shown
    }
}

impl ListenSettings {
    /// By variable; what is not set is empty.
    fn shown(&self) -> Vec<(&'static str, String)> {
        let proxies: Vec<String> = self.trusted_proxies.iter().map(ToString::to_string).collect();
        let mut all = vec![
            ("REMEMBRANCER_BIND", self.bind.clone()),
            ("REMEMBRANCER_ALLOWED_HOSTS", self.allowed_hosts.join(",")),
            ("REMEMBRANCER_MAX_CONNECTIONS", self.max_connections.to_string()),
            ("REMEMBRANCER_CONNECTIONS_PER_ADDRESS", self.connections_per_address.to_string()),
            ("REMEMBRANCER_TRUSTED_PROXIES", proxies.join(",")),
            ("REMEMBRANCER_REQUESTS_PER_MINUTE", self.requests_per_minute.to_string()),
            ("REMEMBRANCER_DASHBOARD", self.dashboard.clone()),
            ("REMEMBRANCER_METRICS_BIND", self.metrics_bind.clone().unwrap_or_default()),
        ];
        all.extend(self.oauth.shown());
        all
    }
}
