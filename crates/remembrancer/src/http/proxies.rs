//! Whom a request comes from where it comes through a proxy.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;
use ipnet::IpNet;

/// The header in which proxies say whom they had a request from, each behind what the ones before it said.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The proxies that are believed.
#[derive(Debug, Clone, Default)]
pub(super) struct TrustedProxies(pub(super) Vec<IpNet>);

/// The address that a request comes from: of its connection, or what a trusted proxy says.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientAddress(pub(super) IpAddr);

impl TrustedProxies {
    pub(super) fn has(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// The last address that a trusted proxy names and that is not one itself: what stands before it anybody may have
    /// written.
    pub(super) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> ClientAddress {
        let mut client = peer;
        if self.has(peer) {
            let named: Vec<&str> = headers
                .get_all(FORWARDED_FOR)
                .iter()
                .flat_map(|value| value.to_str().unwrap_or_default().split(','))
                .collect();
            for named in named.into_iter().rev() {
                let Some(address) = address(named.trim()) else { break };
                client = address;
                if !self.has(address) {
                    break;
                }
            }
        }
        ClientAddress(client)
    }
}

/// An address, with its port where a proxy writes that too.
fn address(text: &str) -> Option<IpAddr> {
    let plain = text.trim_start_matches('[').trim_end_matches(']');
    plain.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(trusted: &[&str], peer: &str, forwarded: &[&str]) -> String {
        let networks = trusted.iter().map(|network| network.parse().expect("a network"));
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, value.parse().expect("a header"));
        }
        let peer = peer.parse().expect("an address");
        TrustedProxies(networks.collect()).client(peer, &headers).0.to_string()
    }

    #[test]
    fn only_a_trusted_proxy_says_where_a_request_comes_from() {
        assert_eq!(client(&[], "127.0.0.1", &["203.0.113.7"]), "127.0.0.1");
        assert_eq!(client(&["10.0.0.0/8"], "192.0.2.1", &["203.0.113.7"]), "192.0.2.1");
        assert_eq!(client(&["127.0.0.0/8"], "127.0.0.1", &["203.0.113.7"]), "203.0.113.7");
        assert_eq!(client(&["127.0.0.0/8"], "::ffff:127.0.0.1", &["203.0.113.7"]), "203.0.113.7");
    }

    #[test]
    fn what_the_client_itself_has_written_is_not_believed() {
        let trusted = ["127.0.0.0/8", "10.0.0.0/8"];
        assert_eq!(client(&trusted, "127.0.0.1", &["198.51.100.1, 203.0.113.7"]), "203.0.113.7");
        assert_eq!(client(&trusted, "127.0.0.1", &["198.51.100.1", "203.0.113.7, 10.0.0.3"]), "203.0.113.7");
        assert_eq!(client(&trusted, "127.0.0.1", &["203.0.113.7, nonsense, 10.0.0.3"]), "10.0.0.3");
    }

    #[test]
    fn proxies_that_say_nothing_count_themselves_and_ports_are_left_out() {
        let trusted = ["127.0.0.0/8"];
        assert_eq!(client(&trusted, "127.0.0.1", &[]), "127.0.0.1");
        assert_eq!(client(&trusted, "127.0.0.1", &["203.0.113.7:4711"]), "203.0.113.7");
        assert_eq!(client(&trusted, "127.0.0.1", &["[2001:db8::1]:4711"]), "2001:db8::1");
        assert_eq!(client(&trusted, "127.0.0.1", &["[2001:db8::1]"]), "2001:db8::1");
    }
}
