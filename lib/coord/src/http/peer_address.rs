//! The address that a request comes from, as far as it can be trusted.

use std::net::{IpAddr, Ipv4Addr};

use axum::body::Body;
use axum::http::{HeaderName, Request};

const X_VERCEL_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-vercel-forwarded-for");
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address at the other end of the connection, as an extension of a request.
#[derive(Clone, Copy, Debug)]
pub struct PeerAddress(pub IpAddr);

/// The address that `request` comes from. Behind a trusted proxy it is in the proxy's header, whose value from a caller the
/// platform overwrites. Requests of unknown origin share one address.
pub(super) fn address_of(request: &Request<Body>, is_behind_proxy: bool) -> IpAddr {
    let said = |name| {
        let list = request.headers().get(name)?.to_str().ok()?;
        list.split(',').next()?.trim().parse().ok()
    };
    let forwarded = is_behind_proxy.then(|| said(X_VERCEL_FORWARDED_FOR).or_else(|| said(X_FORWARDED_FOR)));
    let peer = || request.extensions().get::<PeerAddress>().map(|peer| peer.0);
    forwarded
        .flatten()
        .or_else(peer)
        .unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_the_peers_or_what_our_own_proxy_says() {
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
            let address = address_of(&request(headers), is_behind_proxy);
            assert_eq!(address.to_string(), expected, "{headers:?}");
        }
        let bare = Request::builder().body(Body::empty()).unwrap();
        assert_eq!(address_of(&bare, true), IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    }
}
