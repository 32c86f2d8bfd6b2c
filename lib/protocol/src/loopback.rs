//! Loopback addresses.

use url::{Host, Url};

/// Whether `url` names this machine's loopback interface, which no proxy can reach.
#[must_use]
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_on_the_loopback_address() {
        let is = |url: &str| is_loopback(&Url::parse(url).unwrap());
        for url in [
            "http://127.0.0.1:3000",
            "http://127.8.0.1",
            "http://[::1]/api",
            "https://LOCALHOST",
            "http://a.localhost",
        ] {
            assert!(is(url), "{url}");
        }
        for url in [
            "http://10.0.0.1",
            "http://localhost.example.com",
            "https://coord.example.com",
            "unix:/run/coord",
        ] {
            assert!(!is(url), "{url}");
        }
    }
}
