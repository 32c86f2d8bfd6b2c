//! The address that a request comes from, as far as it can be trusted.

use std::net::{IpAddr, Ipv4Addr};

use axum::body::Body;
use axum::http::{HeaderName, Request};

use coord_settings::edge::Edge;

const X_VERCEL_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-vercel-forwarded-for");
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address at the other end of the connection, as an extension of a request.
#[derive(Clone, Copy, Debug)]
pub struct PeerAddress(pub IpAddr);

/// The address that `request` comes from. The platform's proxy sends it in a header, and overwrites what a caller sends
/// there. A proxy of `COORD_PROXIES` appends it to a list, which a caller may have begun. Requests of unknown origin
/// share one address.
pub(super) fn address_of(request: &Request<Body>, edge: &Edge) -> IpAddr {
    let peer = request.extensions().get::<PeerAddress>().map(|peer| peer.0);
    let forwarded = if edge.is_behind_proxy {
        let first_entry = |name| {
            let list = request.headers().get(name)?.to_str().ok()?;
            list.split(',').next()?.trim().parse().ok()
        };
        first_entry(X_VERCEL_FORWARDED_FOR).or_else(|| first_entry(X_FORWARDED_FOR))
    } else if peer.is_some_and(|peer| edge.proxies.contains(peer)) {
        let lists = request.headers().get_all(X_FORWARDED_FOR).iter().rev();
        let mut entries = lists.flat_map(|list| list.to_str().unwrap_or("-").rsplit(','));
        // Each proxy on the way has appended the address of its caller.
        let caller = entries.find_map(|entry| match entry.trim().parse() {
            Ok(address) if edge.proxies.contains(address) => None,
            other => Some(other),
        });
        caller.and_then(Result::ok)
    } else {
        None
    };
    forwarded.or(peer).unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_the_peer_or_the_one_forwarded_by_our_proxy() {
        let request = |headers: &[(&str, &str)]| {
            let mut request = Request::builder().extension(PeerAddress([192, 0, 2, 7].into()));
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            request.body(Body::empty()).unwrap()
        };
        let forged = [
            ("x-forwarded-for", "203.0.113.9"),
            ("x-vercel-forwarded-for", "203.0.113.8"),
        ];
        for (headers, is_behind_proxy, expected) in [
            (&forged[..], false, "192.0.2.7"),
            (&forged[..], true, "203.0.113.8"),
            (&forged[..1], true, "203.0.113.9"),
            (&[("x-forwarded-for", "2001:db8::1, 10.0.0.1")], true, "2001:db8::1"),
            (&[("x-forwarded-for", "unknown")], true, "192.0.2.7"),
            (&[], true, "192.0.2.7"),
        ] {
            let edge = Edge {
                is_behind_proxy,
                ..Edge::default()
            };
            let address = address_of(&request(headers), &edge);
            assert_eq!(address.to_string(), expected, "{headers:?}");
        }
        let bare = Request::builder().body(Body::empty()).unwrap();
        assert_eq!(address_of(&bare, &Edge::default()), IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    }

    #[test]
    fn a_listed_proxy_names_its_caller_and_no_caller_names_itself() {
        let edge = Edge {
            proxies: "192.0.2.0/24".parse().unwrap(),
            ..Edge::default()
        };
        for (peer, lists, expected) in [
            ([192, 0, 2, 7], &["203.0.113.9"][..], "203.0.113.9"),
            // The caller has begun the list.
            ([192, 0, 2, 7], &["198.51.100.1, 203.0.113.9"], "203.0.113.9"),
            ([192, 0, 2, 7], &["198.51.100.1", "203.0.113.9"], "203.0.113.9"),
            // Two proxies.
            ([192, 0, 2, 7], &["198.51.100.1, 203.0.113.9, 192.0.2.8"], "203.0.113.9"),
            ([192, 0, 2, 7], &["203.0.113.9, unknown"], "192.0.2.7"),
            ([192, 0, 2, 7], &["192.0.2.8"], "192.0.2.7"),
            ([192, 0, 2, 7], &[], "192.0.2.7"),
            ([198, 51, 100, 2], &["203.0.113.9"], "198.51.100.2"),
        ] {
            let mut request = Request::builder().extension(PeerAddress(peer.into()));
            for list in lists {
                request = request.header("x-forwarded-for", *list);
            }
            let address = address_of(&request.body(Body::empty()).unwrap(), &edge);
            assert_eq!(address.to_string(), expected, "{lists:?}");
        }
    }
}
