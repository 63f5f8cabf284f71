//! Settings of OAuth: the address that clients know, and an external issuer.

use anyhow::bail;
use clap::Args;
use memory_core::Invalid;
use memory_core::access::{Grant, Role};
use memory_core::id::Namespace;
use serde::{Deserialize, Serialize};
use url::{Host, Url};

#[derive(Debug, Clone, Default, PartialEq, Eq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Where serve listens")]
pub(crate) struct OAuthSettings {
    /// Address that clients reach this server at, such as `https://memory.example`; it turns OAuth on
    #[arg(long, env = "REMEMBRANCER_PUBLIC_URL", value_name = "URL", global = true)]
    pub(crate) public_url: Option<String>,
    /// External OpenID Connect issuer whose tokens are accepted, in place of the built-in authorization server
    #[arg(long, env = "REMEMBRANCER_OIDC_ISSUER", value_name = "URL", global = true)]
    pub(crate) oidc_issuer: Option<String>,
    /// Audience that its tokens must have; the address of the MCP endpoint unless it is given
    #[arg(long, env = "REMEMBRANCER_OIDC_AUDIENCE", value_name = "TEXT", global = true)]
    pub(crate) oidc_audience: Option<String>,
    /// Claim of its tokens that says what they open; dots lead into objects
    #[arg(
        long,
        env = "REMEMBRANCER_OIDC_CLAIM",
        default_value = "groups",
        value_name = "NAME",
        global = true
    )]
    pub(crate) oidc_claim: String,
    /// What each value of that claim opens, VALUE=ROLE:NAMESPACE+NAMESPACE, divided by commas; the first that fits counts
    #[arg(
        long,
        env = "REMEMBRANCER_OIDC_GRANTS",
        value_delimiter = ',',
        value_name = "GRANT",
        global = true
    )]
    pub(crate) oidc_grants: Vec<String>,
}

impl OAuthSettings {
    /// Refuses what cannot work.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.public()?;
        self.external()?;
        Ok(())
    }

    /// What the pages for people show, by variable. Grants name groups and namespaces that an administrator of a single namespace
    /// need not know of: they are set or not.
    pub(crate) fn shown(&self) -> Vec<(&'static str, String)> {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let has_grants = self.oidc_grants.iter().any(|grant| !grant.trim().is_empty());
        vec![
            ("REMEMBRANCER_PUBLIC_URL", text(&self.public_url)),
            ("REMEMBRANCER_OIDC_ISSUER", text(&self.oidc_issuer)),
            ("REMEMBRANCER_OIDC_AUDIENCE", text(&self.oidc_audience)),
            ("REMEMBRANCER_OIDC_CLAIM", self.oidc_claim.clone()),
            ("REMEMBRANCER_OIDC_GRANTS", if has_grants { "set" } else { "" }.to_owned()),
        ]
    }

    /// The origin that clients know, without a slash at its end; none where OAuth is off.
    pub(crate) fn public(&self) -> anyhow::Result<Option<Url>> {
        let Some(text) = given(self.public_url.as_ref()) else { return Ok(None) };
        let url = origin("REMEMBRANCER_PUBLIC_URL", text)?;
        if url.path() != "/" || url.query().is_some() {
            bail!(
                "REMEMBRANCER_PUBLIC_URL {text} has a path; give the scheme and the host only, such as https://memory.example"
            );
        }
        Ok(Some(url))
    }

    /// The external issuer; none where the built-in authorization server gives out tokens.
    pub(crate) fn external(&self) -> anyhow::Result<Option<ExternalSettings>> {
        let Some(text) = given(self.oidc_issuer.as_ref()) else { return Ok(None) };
        if self.public()?.is_none() {
            bail!(
                "REMEMBRANCER_OIDC_ISSUER needs REMEMBRANCER_PUBLIC_URL, the address that clients reach this server at"
            );
        }
        origin("REMEMBRANCER_OIDC_ISSUER", text)?;
        let grants = self.oidc_grants.iter().map(|grant| grant.trim()).filter(|grant| !grant.is_empty());
        let grants = grants.map(ClaimGrant::parse).collect::<Result<Vec<_>, _>>()?;
        if grants.is_empty() {
            bail!(
                "REMEMBRANCER_OIDC_ISSUER needs REMEMBRANCER_OIDC_GRANTS, such as memory-team=writer:work+home"
            );
        }
        Ok(Some(ExternalSettings {
            issuer: text.to_owned(),
            audience: given(self.oidc_audience.as_ref()).map(str::to_owned),
            claim: self.oidc_claim.clone(),
            grants,
        }))
    }
}

fn given(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

/// An address that is https, or on this machine.
fn origin(variable: &str, text: &str) -> anyhow::Result<Url> {
    let Some(url) = Url::parse(text).ok().filter(Url::has_host) else {
        bail!("{variable} {text} is not an address such as https://memory.example");
    };
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        bail!("{variable} has a name, a password or a fragment; leave it out");
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        _ => {
            bail!("{variable} {text} is not https, which tokens need on their way; only loopback may be http")
        }
    }
}

/// Whether an address is on this machine by what it says.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// An issuer of tokens, and what they open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExternalSettings {
    pub(super) issuer: String,
    pub(super) audience: Option<String>,
    pub(super) claim: String,
    pub(super) grants: Vec<ClaimGrant>,
}

/// What a value of the claim opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClaimGrant {
    pub(super) value: String,
    pub(super) grant: Grant,
}

impl ClaimGrant {
    /// `VALUE=ROLE:NAMESPACE+NAMESPACE`
    fn parse(text: &str) -> Result<Self, Invalid> {
        let form = || {
            Invalid(format!(
                "REMEMBRANCER_OIDC_GRANTS has {text:?}; write VALUE=ROLE:NAMESPACE+NAMESPACE with one of the roles {}, such as \
                 memory-team=writer:work+home",
                Role::names()
            ))
        };
        let (value, opened) = text.rsplit_once('=').ok_or_else(form)?;
        let (role, namespaces) = opened.split_once(':').ok_or_else(form)?;
        let role = Role::parse(role.trim()).ok_or_else(form)?;
        let namespaces = namespaces.split('+').map(|name| Namespace::new(name.trim()));
        let namespaces = namespaces.collect::<Result<Vec<_>, _>>().map_err(|_| form())?;
        let grant = Grant::new("issued", role, namespaces, Vec::new())?;
        Ok(Self { value: value.trim().to_owned(), grant })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(url: &str) -> OAuthSettings {
        OAuthSettings { public_url: Some(url.to_owned()), ..OAuthSettings::default() }
    }

    #[test]
    fn a_public_address_is_an_origin_over_https_or_on_this_machine() {
        for good in [
            "https://memory.example",
            "https://memory.example:8443/",
            "http://127.0.0.1:3100",
            "http://[::1]:1",
        ] {
            assert!(public(good).check().is_ok(), "{good}");
        }
        for bad in [
            "http://memory.example",
            "https://memory.example/mcp",
            "memory.example",
            "ftp://localhost",
            "https://a:b@c",
        ] {
            assert!(public(bad).check().is_err(), "{bad}");
        }
        assert!(public(" ").public().expect("it is empty").is_none());
    }

    #[test]
    fn an_issuer_needs_a_public_address_and_grants_that_can_be_read() {
        let with = |grants: &[&str]| OAuthSettings {
            oidc_issuer: Some("https://login.example/realms/a".to_owned()),
            oidc_grants: grants.iter().map(|&grant| grant.to_owned()).collect(),
            ..public("https://memory.example")
        };
        let external =
            with(&["team=writer:work+home", "a=b=reader:x"]).external().expect("sound").expect("one");
        assert_eq!(external.grants[0].grant.namespaces().len(), 2);
        assert_eq!(external.grants[1].value, "a=b");
        for bad in ["team", "team=owner:work", "team=writer", "team=writer:", "team=writer:a b"] {
            assert!(with(&[bad]).check().is_err(), "{bad}");
        }
        assert!(with(&[]).check().is_err());
        assert!(OAuthSettings { public_url: None, ..with(&["a=reader:b"]) }.check().is_err());
    }
}
