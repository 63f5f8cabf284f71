//! The address of the server: what was configured, what may be connected to, and what may be shown of it.

use std::net::{IpAddr, SocketAddr};

use url::{Host, Url};

use super::address::{Place, place_of};

const CHAT_PATH: &str = "/chat/completions";

/// An OpenAI-compatible server's address for chat completions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    host: Host<String>,
    pub(super) port: u16,
    pub(super) is_tls: bool,
    /// Path and query of a request.
    pub(super) target: String,
    allows_private: bool,
}

impl Endpoint {
    /// Reads a base address such as `http://localhost:11434/v1`, or the full one that ends in `/chat/completions`.
    pub(super) fn parse(text: &str, allows_private: bool) -> Result<Self, String> {
        let hint = "use a base address such as http://localhost:11434/v1";
        let url = Url::parse(text)
            .map_err(|error| format!("the language model's address is not a URL ({error}): {hint}"))?;
        let is_tls = match url.scheme() {
            "https" => true,
            "http" => false,
            other => return Err(format!("the language model's address begins with {other}: {hint}")),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err("the language model's address holds a name or password: \
                 put the key into REMEMBRANCER_LLM_KEY instead"
                .to_owned());
        }
        let (Some(host), Some(port)) = (url.host().map(|host| host.to_owned()), url.port_or_known_default())
        else {
            return Err(format!("the language model's address names no host: {hint}"));
        };
        let path = url.path().trim_end_matches('/');
        let mut target = path.to_owned();
        if !path.ends_with(CHAT_PATH) {
            target.push_str(CHAT_PATH);
        }
        if let Some(query) = url.query() {
            target = format!("{target}?{query}");
        }
        let endpoint = Self { host, port, is_tls, target, allows_private };
        // What needs no resolving is told at the start.
        match &endpoint.host {
            Host::Ipv4(address) => endpoint.admit(IpAddr::V4(*address))?,
            Host::Ipv6(address) => endpoint.admit(IpAddr::V6(*address))?,
            Host::Domain(_) => {}
        }
        Ok(endpoint)
    }

    /// Scheme, host and port: a path or query may hold a secret.
    pub(super) fn shown(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        match (self.is_tls, self.port) {
            (true, 443) | (false, 80) => format!("{scheme}://{}", self.host),
            (_, port) => format!("{scheme}://{}:{port}", self.host),
        }
    }

    /// The value of the header `Host`.
    pub(super) fn authority(&self) -> String {
        self.shown().split_once("://").map_or_else(String::new, |(_, authority)| authority.to_owned())
    }

    /// The name that a certificate must bear.
    pub(super) fn host_name(&self) -> String {
        match &self.host {
            Host::Domain(name) => name.clone(),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
        }
    }

    /// Whether the address itself says that it means this machine.
    fn means_this_machine(&self) -> bool {
        match &self.host {
            Host::Domain(name) => name.trim_end_matches('.') == "localhost",
            Host::Ipv4(address) => place_of(IpAddr::V4(*address)) == Place::Loopback,
            Host::Ipv6(address) => place_of(IpAddr::V6(*address)) == Place::Loopback,
        }
    }

    /// The addresses to connect to, all of which may be: one that may not refuses the name altogether.
    pub(super) async fn addresses(&self) -> Result<Vec<SocketAddr>, String> {
        let found: Vec<SocketAddr> = match &self.host {
            Host::Ipv4(address) => vec![(*address, self.port).into()],
            Host::Ipv6(address) => vec![(*address, self.port).into()],
            Host::Domain(name) => tokio::net::lookup_host((name.as_str(), self.port))
                .await
                .map_err(|_| format!("the name {name} is not known"))?
                .collect(),
        };
        for address in &found {
            self.admit(address.ip())?;
        }
        if found.is_empty() {
            return Err(format!("the name {} stands for no address", self.host));
        }
        Ok(found)
    }

    /// Says why an address may not be connected to.
    pub(super) fn admit(&self, address: IpAddr) -> Result<(), String> {
        let host = &self.host;
        match place_of(address) {
            Place::Forbidden(what) => {
                Err(format!("{host} is {what} ({address}), where no language model may be asked"))
            }
            Place::Loopback if self.means_this_machine() || self.allows_private => Ok(()),
            Place::Private if self.allows_private => Ok(()),
            Place::Loopback | Place::Private => Err(format!(
                "{host} is in a private network ({address}): set REMEMBRANCER_LLM_ALLOW_PRIVATE=true if that is meant"
            )),
            Place::Public if self.is_tls => Ok(()),
            Place::Public => Err(format!(
                "{host} is a public address ({address}), where texts and key would go unencrypted: use https"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(url: &str) -> Endpoint {
        Endpoint::parse(url, false).expect(url)
    }

    #[test]
    fn a_base_address_and_a_full_one_lead_to_the_same_place() {
        for url in [
            "http://localhost:11434/v1",
            "http://localhost:11434/v1/",
            "http://localhost:11434/v1/chat/completions",
        ] {
            assert_eq!(endpoint(url).target, "/v1/chat/completions", "{url}");
            assert_eq!(endpoint(url).shown(), "http://localhost:11434", "{url}");
        }
        let azure = endpoint("https://x.example/openai/deployments/d?api-version=1");
        assert_eq!(azure.target, "/openai/deployments/d/chat/completions?api-version=1");
        assert_eq!(
            (azure.shown().as_str(), azure.port),
            ("https://x.example", 443),
            "a query is never shown"
        );
    }

    #[test]
    fn an_address_that_cannot_be_used_is_refused_with_what_to_do() {
        for (url, said) in [
            ("localhost:11434/v1", "begins with localhost"),
            ("ftp://host/v1", "begins with ftp"),
            ("nonsense", "not a URL"),
            ("https://me:secret@host/v1", "REMEMBRANCER_LLM_KEY"),
            ("http://169.254.169.254/v1", "metadata"),
            ("http://0xA9FEA9FE/v1", "metadata"),
            ("http://2852039166/v1", "metadata"),
            ("http://[::ffff:169.254.169.254]/v1", "metadata"),
            ("http://[fe80::1]/v1", "link-local"),
            ("http://10.0.0.7:8000/v1", "REMEMBRANCER_LLM_ALLOW_PRIVATE=true"),
            ("http://8.8.8.8/v1", "use https"),
        ] {
            let refusal = Endpoint::parse(url, false).expect_err(url);
            assert!(refusal.contains(said), "{url}: {refusal}");
            assert!(!refusal.contains("secret"), "{refusal}");
        }
    }

    #[test]
    fn a_name_may_stand_for_this_machine_only_if_it_says_so() {
        let loopback: IpAddr = "127.0.0.1".parse().unwrap();
        assert!(endpoint("http://localhost:1/v1").admit(loopback).is_ok());
        assert!(endpoint("http://[::1]:1/v1").admit(loopback).is_ok());
        assert!(endpoint("https://evil.example/v1").admit(loopback).is_err());
        assert!(Endpoint::parse("http://ollama:11434/v1", true).unwrap().admit(loopback).is_ok());
        let metadata: IpAddr = "169.254.169.254".parse().unwrap();
        assert!(Endpoint::parse("http://ollama:11434/v1", true).unwrap().admit(metadata).is_err());
    }
}
