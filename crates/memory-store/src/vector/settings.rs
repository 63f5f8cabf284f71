//! Settings of the mirror.

use std::path::PathBuf;
use std::time::Duration;

use url::{Host, Url};

use crate::InvalidSetting;

/// The mirror of the vectors in Qdrant.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Qdrant")]
pub struct MirrorSettings {
    /// Qdrant to mirror the vectors to and to search them in, by its gRPC port, e.g. `http://localhost:6334`
    #[arg(long, env = "QDRANT_URL", hide_env_values = true, global = true, value_name = "URL")]
    pub qdrant_url: Option<String>,
    /// What the names of its collections begin with
    #[arg(
        long,
        env = "QDRANT_COLLECTION",
        default_value = "remembrancer",
        global = true,
        value_name = "NAME"
    )]
    pub qdrant_collection: String,
    /// Which searches ask it: those of more than 10,000 passages, all, or none
    #[arg(long, env = "REMEMBRANCER_QDRANT_SEARCH", value_enum, value_name = "WHICH", default_value_t = SearchVia::Large, global = true)]
    pub qdrant_search: SearchVia,
    /// How long a search waits for it before Postgres answers instead, in milliseconds
    #[arg(long, env = "REMEMBRANCER_QDRANT_TIMEOUT_MS", default_value_t = 500, value_name = "MILLISECONDS", value_parser = clap::value_parser!(u64).range(20..=30_000), global = true)]
    pub qdrant_timeout_ms: u64,
    /// Shards of a new collection
    #[arg(long, env = "QDRANT_SHARDS", default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256), global = true)]
    pub qdrant_shards: u32,
    /// Nodes that keep each shard of a new collection
    #[arg(long, env = "QDRANT_REPLICAS", default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16), global = true)]
    pub qdrant_replicas: u32,
    /// Replicas that must confirm a write to a new collection; fewer than there are
    #[arg(long, env = "QDRANT_WRITE_CONSISTENCY", default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=15), global = true)]
    pub qdrant_write_consistency: u32,
    /// Keep the vectors of a new collection on disk instead of in memory
    #[arg(long, env = "QDRANT_ON_DISK", global = true)]
    pub qdrant_on_disk: bool,
    /// Compress the vectors of a new collection; the best are then compared once more as they were
    #[arg(long, env = "QDRANT_QUANTIZATION", value_enum, value_name = "HOW", default_value_t = Quantization::None, global = true)]
    pub qdrant_quantization: Quantization,
}

/// Which searches ask the mirror.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum SearchVia {
    /// Those that Postgres would answer by its approximate index.
    Large,
    Always,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Quantization {
    None,
    /// 8 bits a number.
    Scalar,
    /// 1 bit a number.
    Binary,
}

impl Default for MirrorSettings {
    fn default() -> Self {
        Self {
            qdrant_url: None,
            qdrant_collection: "remembrancer".into(),
            qdrant_search: SearchVia::Large,
            qdrant_timeout_ms: 500,
            qdrant_shards: 1,
            qdrant_replicas: 1,
            qdrant_write_consistency: 1,
            qdrant_on_disk: false,
            qdrant_quantization: Quantization::None,
        }
    }
}

/// How long things take at most; tests have shorter ones.
#[derive(Debug, Clone)]
pub struct Times {
    /// A search.
    pub search: Duration,
    /// Any other call.
    pub call: Duration,
    /// How long what was claimed belongs to its worker. Longer than what is done with it.
    pub lease: Duration,
    /// After this long a call whose answer did not come is not carried out any more.
    pub confirm: Duration,
    /// Between looks at a server that does not answer: at first, and at most.
    pub pause: Duration,
    pub pause_max: Duration,
    /// How long a collection stays that is not searched any more: searches may be under way.
    pub retired: Duration,
    /// How often all points are compared with Postgres.
    pub audit: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            search: Duration::from_millis(500),
            call: Duration::from_secs(20),
            lease: Duration::from_secs(90),
            confirm: Duration::from_secs(60),
            pause: Duration::from_millis(250),
            pause_max: Duration::from_secs(2),
            retired: Duration::from_secs(60),
            audit: Duration::from_secs(24 * 3600),
        }
    }
}

const NAME_MAX_CHARS: usize = 100;

impl MirrorSettings {
    /// The address with the port of gRPC, or what is wrong with it.
    pub fn address(&self) -> Result<Option<String>, InvalidSetting> {
        let Some(url) = self.qdrant_url.as_deref().map(str::trim).filter(|url| !url.is_empty()) else {
            return Ok(None);
        };
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        let host = rest.trim_end_matches('/');
        if !matches!(scheme, "http" | "https") || host.is_empty() || host.contains(['/', '@', '?', '#', ' '])
        {
            return Err(InvalidSetting(format!(
                "QDRANT_URL is {:?}; it must look like http://HOST:6334, or https:// with TLS; the key goes into QDRANT_API_KEY",
                without_secrets(url)
            )));
        }
        if leads_to_the_link(host) {
            return Err(InvalidSetting(format!(
                "QDRANT_URL is {url:?}, a link-local address, as those of metadata services of clouds; name the \
                 host that Qdrant runs on"
            )));
        }
        let port = host.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.ends_with(']'));
        match port {
            Some("6333") => Err(InvalidSetting(format!(
                "QDRANT_URL is {url:?}, which is the port of the REST interface; give that of gRPC, usually 6334"
            ))),
            Some(_) => Ok(Some(format!("{scheme}://{host}"))),
            None => Ok(Some(format!("{scheme}://{host}:6334"))),
        }
    }

    /// The same settings as environment variables, for a process that is started with them.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        use clap::ValueEnum;
        let name = |value: Option<clap::builder::PossibleValue>| {
            value.map_or_else(String::new, |value| value.get_name().to_owned())
        };
        vec![
            ("QDRANT_URL", self.qdrant_url.clone().unwrap_or_default()),
            ("QDRANT_COLLECTION", self.qdrant_collection.clone()),
            ("REMEMBRANCER_QDRANT_SEARCH", name(self.qdrant_search.to_possible_value())),
            ("REMEMBRANCER_QDRANT_TIMEOUT_MS", self.qdrant_timeout_ms.to_string()),
            ("QDRANT_SHARDS", self.qdrant_shards.to_string()),
            ("QDRANT_REPLICAS", self.qdrant_replicas.to_string()),
            ("QDRANT_WRITE_CONSISTENCY", self.qdrant_write_consistency.to_string()),
            ("QDRANT_ON_DISK", self.qdrant_on_disk.to_string()),
            ("QDRANT_QUANTIZATION", name(self.qdrant_quantization.to_possible_value())),
        ]
    }

    /// Checks what belongs together.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        let name = &self.qdrant_collection;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || name.len() > NAME_MAX_CHARS || !name.chars().all(is_plain) {
            return Err(InvalidSetting(format!(
                "QDRANT_COLLECTION is {name:?}; use 1 to {NAME_MAX_CHARS} letters, digits, _ or -"
            )));
        }
        let (replicas, consistency) = (self.qdrant_replicas, self.qdrant_write_consistency);
        if consistency > 1 && consistency >= replicas {
            return Err(InvalidSetting(format!(
                "QDRANT_WRITE_CONSISTENCY is {consistency} with {replicas} replicas: one node that is down would stop all \
                 writes. Use less than QDRANT_REPLICAS"
            )));
        }
        Ok(())
    }
}

/// The address as it may be shown: what is before an @ or after a question mark may be a password or a key.
fn without_secrets(url: &str) -> String {
    let url = url.split_once(['?', '#']).map_or_else(|| url.to_owned(), |(before, _)| format!("{before}?…"));
    match url.rsplit_once('@') {
        None => url,
        Some((before, host)) => {
            let scheme = before.split_once("://").map_or("", |(scheme, _)| scheme);
            let dots = if scheme.is_empty() { "" } else { "://" };
            format!("{scheme}{dots}…@{host}")
        }
    }
}

/// Whether a host, in whatever way its numbers are written, is 169.254.0.0/16 or fe80::/10.
fn leads_to_the_link(host: &str) -> bool {
    let Ok(url) = Url::parse(&format!("http://{host}")) else { return false };
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_link_local(),
        Some(Host::Ipv6(address)) => {
            address.is_unicast_link_local() || address.to_ipv4().is_some_and(|inner| inner.is_link_local())
        }
        Some(Host::Domain(_)) | None => false,
    }
}

/// The key, from QDRANT_API_KEY or the file QDRANT_API_KEY_FILE.
pub fn api_key() -> Result<Option<String>, InvalidSetting> {
    let key = match (std::env::var("QDRANT_API_KEY"), std::env::var_os("QDRANT_API_KEY_FILE")) {
        (Ok(key), _) => key,
        (Err(_), Some(file)) => std::fs::read_to_string(&file).map_err(|error| {
            InvalidSetting(format!(
                "QDRANT_API_KEY_FILE {} cannot be read: {error}",
                PathBuf::from(&file).display()
            ))
        })?,
        (Err(_), None) => return Ok(None),
    };
    let key = key.trim();
    if !key.chars().all(|c| c.is_ascii_graphic()) {
        return Err(InvalidSetting("QDRANT_API_KEY has a character that cannot be in a header".to_owned()));
    }
    Ok((!key.is_empty()).then(|| key.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Result<Option<String>, InvalidSetting> {
        MirrorSettings { qdrant_url: Some(url.into()), ..MirrorSettings::default() }.address()
    }

    #[test]
    fn an_address_gets_the_port_of_grpc_and_that_of_rest_is_refused() {
        let ok = |url: &str| address(url).expect("it is an address").expect("it is there");
        assert_eq!(ok("http://qdrant:6334/"), "http://qdrant:6334");
        assert_eq!(ok("https://q.example.org"), "https://q.example.org:6334");
        assert_eq!(ok("qdrant"), "http://qdrant:6334");
        assert_eq!(ok("http://[::1]"), "http://[::1]:6334");
        assert_eq!(address(" "), Ok(None));
        assert!(address("http://localhost:6333").unwrap_err().to_string().contains("6334"));
        for bad in ["ftp://x", "http://", "http://user:secret@x", "http://x/path"] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_not_shown() {
        for url in [
            "http://ann:secret@x:6334",
            "https://ann:p@secret@x",
            "ann:secret@x",
            "http://x:6334?api-key=secret",
            "http://ann:secret@x/path?key=secret@y",
        ] {
            let error = address(url).unwrap_err().to_string();
            assert!(!error.contains("secret") && error.contains("QDRANT_API_KEY"), "{error}");
        }
    }

    #[test]
    fn a_link_local_address_is_refused_in_every_disguise() {
        for bad in [
            "http://169.254.169.254",
            "169.254.1.1:6334",
            "http://[fe80::1]:6334",
            "http://[::ffff:169.254.169.254]",
            "http://2852039166",
            "http://0xa9fea9fe:6334",
        ] {
            let refused = address(bad).unwrap_err().to_string();
            assert!(refused.contains("link-local"), "{bad}: {refused}");
        }
        assert!(address("http://10.0.0.1").is_ok() && address("http://169.253.0.1").is_ok());
    }

    #[test]
    fn a_write_consistency_that_one_dead_node_breaks_is_refused() {
        let with = |qdrant_replicas, qdrant_write_consistency| {
            MirrorSettings { qdrant_replicas, qdrant_write_consistency, ..MirrorSettings::default() }.check()
        };
        assert!(with(1, 1).is_ok() && with(2, 1).is_ok() && with(3, 2).is_ok());
        assert!(with(2, 2).is_err() && with(1, 2).is_err());
        let named = MirrorSettings { qdrant_collection: "a b".into(), ..MirrorSettings::default() };
        assert!(named.check().is_err());
    }
}
