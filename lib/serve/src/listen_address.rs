//! Parses the address to listen on.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The default port of `coord serve`.
pub const DEFAULT_PORT: u16 = 3000;

/// Parses `127.0.0.1:3000`, `[::1]:3000`, `localhost:3000`, an address without a port, or a port alone, which is on
/// this machine only. Other names are not looked up: their addresses, and so the possible callers, could change between
/// starts.
///
/// # Errors
/// A sentence with the accepted forms.
pub fn parse(text: &str) -> Result<SocketAddr, String> {
    let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    if let Ok(port) = text.parse() {
        return Ok(local(port));
    }
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(SocketAddr::from((address, DEFAULT_PORT)));
    }
    match text.strip_prefix("localhost") {
        Some("") => Some(local(DEFAULT_PORT)),
        Some(rest) => rest.strip_prefix(':').and_then(|port| port.parse().ok()).map(local),
        None => text.parse().ok(),
    }
    .ok_or_else(|| {
        "write a port (3000), or an IP address and a port (127.0.0.1:3000, 0.0.0.0:3000, [::1]:3000)".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_an_address_or_both_are_understood_and_a_bare_port_is_local() {
        for (text, address) in [
            ("3000", "127.0.0.1:3000"),
            ("0", "127.0.0.1:0"),
            ("localhost", "127.0.0.1:3000"),
            ("localhost:8080", "127.0.0.1:8080"),
            ("127.0.0.1", "127.0.0.1:3000"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("::1", "[::1]:3000"),
            ("[::1]:80", "[::1]:80"),
        ] {
            assert_eq!(
                parse(text).map(|address| address.to_string()),
                Ok(address.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn an_invalid_address_is_refused_with_examples() {
        for text in [
            "",
            ":3000",
            "70000",
            "localhost:",
            "localhost:x",
            "localhostile:80",
            "example.com:80",
            "http://127.0.0.1:3000",
        ] {
            let why = parse(text).unwrap_err();
            assert!(why.contains("127.0.0.1:3000"), "{text}: {why}");
        }
    }
}
