//! What kind of network an address leads to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where an address leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Public,
    /// The networks of homes, offices, clusters and providers.
    Private,
    Loopback,
    /// Never meant: metadata services of clouds, which give machines their secrets, and what is no single host.
    Forbidden(&'static str),
}

const METADATA: &str = "a cloud's metadata service";
const LINK_LOCAL: &str = "a link-local address";

pub fn place_of(address: IpAddr) -> Place {
    match address {
        IpAddr::V4(address) => place_of_v4(address),
        IpAddr::V6(address) => match embedded_v4(address) {
            Some(inner) => place_of_v4(inner),
            None => place_of_v6(address),
        },
    }
}

fn place_of_v4(address: Ipv4Addr) -> Place {
    match address.octets() {
        [169, 254, 169, 254] | [100, 100, 100, 200] | [192, 0, 0, 192] => Place::Forbidden(METADATA),
        [169, 254, ..] => Place::Forbidden(LINK_LOCAL),
        [0, ..] => Place::Forbidden("an unspecified address"),
        [224..=239, ..] => Place::Forbidden("a multicast address"),
        [240..=255, ..] => Place::Forbidden("a reserved or broadcast address"),
        [127, ..] => Place::Loopback,
        // RFC 1918, shared (RFC 6598), protocol assignments, documentation and benchmarking.
        [10, ..]
        | [172, 16..=31, ..]
        | [192, 168, ..]
        | [100, 64..=127, ..]
        | [192, 0, 0 | 2, _]
        | [198, 18 | 19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _] => Place::Private,
        _ => Place::Public,
    }
}

fn place_of_v6(address: Ipv6Addr) -> Place {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => Place::Loopback,
        [0, 0, 0, 0, 0, 0, 0, 0] => Place::Forbidden("an unspecified address"),
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254] => {
            Place::Forbidden(METADATA)
        }
        [0xfe80..=0xfebf, ..] => Place::Forbidden(LINK_LOCAL),
        [0xff00..=0xffff, ..] => Place::Forbidden("a multicast address"),
        // Unique local, the old site-local, documentation, and whatever is not given out as global.
        [0x2001, 0xdb8, ..] => Place::Private,
        [0x2000..=0x3fff, ..] => Place::Public,
        _ => Place::Private,
    }
}

/// The IPv4 address that an IPv6 one embeds: mapped, compatible, NAT64, 6to4 or Teredo.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        Ipv4Addr::new(a, b, c, d)
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => Some(of(high, low)),
        [0x2001, 0, _, _, _, _, high, low] => Some(of(!high, !low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(address: &str) -> Place {
        place_of(address.parse().expect("an address"))
    }

    #[test]
    fn metadata_and_link_local_addresses_are_forbidden_in_every_disguise() {
        for address in [
            "169.254.169.254",
            "169.254.0.1",
            "100.100.100.200",
            "0.0.0.0",
            "0.1.2.3",
            "224.0.0.1",
            "255.255.255.255",
            "fe80::1",
            "febf::1",
            "fd00:ec2::254",
            "fd20:ce::254",
            "::",
            "ff02::1",
            "::ffff:169.254.169.254",
            "::169.254.169.254",
            "64:ff9b::169.254.169.254",
            "2002:a9fe:a9fe::1",
        ] {
            assert!(matches!(place(address), Place::Forbidden(_)), "{address}");
        }
    }

    #[test]
    fn private_loopback_and_public_addresses_are_told_apart() {
        for address in
            ["10.1.2.3", "172.31.0.1", "192.168.1.5", "100.64.0.9", "fd12::1", "::ffff:10.0.0.1", "fec0::1"]
        {
            assert_eq!(place(address), Place::Private, "{address}");
        }
        for address in ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(place(address), Place::Loopback, "{address}");
        }
        for address in ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8"] {
            assert_eq!(place(address), Place::Public, "{address}");
        }
    }
}
