//! The address of the server: what was configured, what may be connected to, and what may be shown of it.

use std::net::IpAddr;

use memory_core::Invalid;
use memory_network::{Place, place_of, resolving};
use reqwest::dns::{Name, Resolve, Resolving};
use url::{Host, Url};

const CHAT_PATH: &str = "/chat/completions";

/// An OpenAI-compatible server's address for chat completions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    url: Url,
    host: Host<String>,
    allows_private: bool,
}

impl Endpoint {
    /// Reads a base address such as `http://localhost:11434/v1`, or the full one that ends in `/chat/completions`.
    pub(super) fn parse(text: &str, allows_private: bool) -> Result<Self, Invalid> {
        let hint = "use a base address such as http://localhost:11434/v1";
        let refused = |why: String| Err(Invalid(format!("the language model's address {why}: {hint}")));
        let mut url = match Url::parse(text) {
            Ok(url) => url,
            Err(error) => return refused(format!("is not a URL ({error})")),
        };
        if !matches!(url.scheme(), "http" | "https") {
            return refused(format!("begins with {}", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Invalid::new(
                "the language model's address holds a name or password: \
                 put the key into REMEMBRANCER_LLM_KEY instead",
            ));
        }
        let Some(host) = url.host().map(|host| host.to_owned()) else {
            return refused("names no host".to_owned());
        };
        let mut path = url.path().trim_end_matches('/').to_owned();
        if !path.ends_with(CHAT_PATH) {
            path.push_str(CHAT_PATH);
        }
        url.set_path(&path);
        url.set_fragment(None);
        let endpoint = Self { url, host, allows_private };
        // Addresses are never resolved: this is the one time that they are checked.
        match &endpoint.host {
            Host::Ipv4(address) => endpoint.admit(IpAddr::V4(*address))?,
            Host::Ipv6(address) => endpoint.admit(IpAddr::V6(*address))?,
            Host::Domain(_) => {}
        }
        Ok(endpoint)
    }

    /// What requests are sent to. Path and query may hold a secret.
    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    pub(super) fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Scheme, host and port, which hold no secret.
    pub(super) fn shown(&self) -> String {
        let port = self.url.port().map_or_else(String::new, |port| format!(":{port}"));
        format!("{}://{}{port}", self.url.scheme(), self.host)
    }

    /// Whether the address itself says that it means this machine.
    fn means_this_machine(&self) -> bool {
        match &self.host {
            Host::Domain(name) => name.trim_end_matches('.') == "localhost",
            Host::Ipv4(address) => place_of(IpAddr::V4(*address)) == Place::Loopback,
            Host::Ipv6(address) => place_of(IpAddr::V6(*address)) == Place::Loopback,
        }
    }

    /// Says why an address may not be connected to.
    fn admit(&self, address: IpAddr) -> Result<(), Invalid> {
        let host = &self.host;
        match place_of(address) {
            Place::Forbidden(what) => {
                Err(Invalid(format!("{host} is {what} ({address}), where no language model may be asked")))
            }
            Place::Loopback if self.means_this_machine() || self.allows_private => Ok(()),
            Place::Private if self.allows_private => Ok(()),
            Place::Loopback | Place::Private => Err(Invalid(format!(
                "{host} is in a private network ({address}): set REMEMBRANCER_LLM_ALLOW_PRIVATE=true if that is meant"
            ))),
            Place::Public if self.is_tls() => Ok(()),
            Place::Public => Err(Invalid(format!(
                "{host} is a public address ({address}), where texts and key would go unencrypted: use https"
            ))),
        }
    }
}

impl Resolve for Endpoint {
    fn resolve(&self, name: Name) -> Resolving {
        let endpoint = self.clone();
        resolving(name, move |address| endpoint.admit(address))
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
            assert_eq!(endpoint(url).url().path(), "/v1/chat/completions", "{url}");
            assert_eq!(endpoint(url).shown(), "http://localhost:11434", "{url}");
        }
        let azure = endpoint("https://x.example/openai/deployments/d?api-version=1");
        assert_eq!(azure.url().path(), "/openai/deployments/d/chat/completions");
        assert_eq!(azure.url().query(), Some("api-version=1"));
        assert_eq!(azure.shown(), "https://x.example", "a query is never shown");
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
            let refusal = Endpoint::parse(url, false).expect_err(url).to_string();
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

    #[tokio::test]
    async fn a_name_is_resolved_to_addresses_that_are_admitted_or_to_none() {
        let resolve = async |url: &str| {
            let addresses = endpoint(url).resolve("localhost".parse().unwrap()).await;
            addresses.map(Iterator::count).map_err(|error| error.to_string())
        };
        assert!(resolve("http://localhost:1/v1").await.unwrap() > 0);
        let refusal = resolve("https://evil.example/v1").await.unwrap_err();
        assert!(refusal.contains("private network") && refusal.contains("evil.example"), "{refusal}");
    }
}
