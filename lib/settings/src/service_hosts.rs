//! The names under which a service is reached. In an attack by DNS rebinding, a web page's own name resolves to our
//! address; the header `Host` then has that name.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::http::HeaderValue;
use axum::http::uri::Authority;

use super::environment::{ConfigError, Environment, printable_start, value_of};
use super::variables::env_vars;

/// Maximum number of entries of `COORD_HOSTS`.
const MAX_HOSTS: usize = 64;

/// The variables with the platform's hosts of the project, of the branch, and of this deployment alone.
const PLATFORM_VARIABLES: [&str; 3] = [
    env_vars::VERCEL_PROJECT_PRODUCTION_URL,
    env_vars::VERCEL_BRANCH_URL,
    env_vars::VERCEL_URL,
];

/// Hosts, some with a port. The names of this machine for itself are always among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceHosts(Vec<Authority>);

impl ServiceHosts {
    /// The hosts in `COORD_HOSTS`, and those that the platform sets.
    ///
    /// # Errors
    /// When an entry of `COORD_HOSTS` is no host.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let config_error = |problem: String| ConfigError::new(env_vars::COORD_HOSTS, problem);
        let mut hosts = Vec::new();
        for entry in value_of(environment, env_vars::COORD_HOSTS)
            .iter()
            .flat_map(|list| list.split(','))
        {
            let entry = entry.trim();
            let host = parse_host(entry).ok_or_else(|| {
                let start = printable_start(entry);
                config_error(format!(
                    "must be hosts such as coord.example.com or 10.0.0.5:3000, separated by commas; {start:?} is not \
                     a host"
                ))
            })?;
            hosts.push(host);
        }
        if hosts.len() > MAX_HOSTS {
            return Err(config_error(format!(
                "has {} hosts; at most {MAX_HOSTS} are allowed",
                hosts.len()
            )));
        }
        let platform_hosts = PLATFORM_VARIABLES
            .into_iter()
            .filter_map(|variable| value_of(environment, variable));
        hosts.extend(platform_hosts.filter_map(|host| parse_host(&host)));
        Ok(ServiceHosts(hosts))
    }

    /// The host in `header`, which is `Host`, if it is one of ours: with its port, if it has one.
    pub fn find_own(&self, header: &HeaderValue) -> Option<Authority> {
        let host = parse_host(header.to_str().ok()?)?;
        let is_same = |own: &Authority| {
            own.host().eq_ignore_ascii_case(host.host()) && (own.port().is_none() || own.port_u16() == host.port_u16())
        };
        (is_loopback(&host) || self.0.iter().any(is_same)).then_some(host)
    }
}

/// A host, with a port or without, and nothing else: no user, no empty port, no trailing dot.
pub fn parse_host(text: &str) -> Option<Authority> {
    let authority: Authority = text.parse().ok()?;
    let is_host = authority
        .host()
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte));
    // Without a user, and without a port that is not a number.
    let host_and_port = match authority.port_u16() {
        Some(port) => format!("{}:{port}", authority.host()),
        None => authority.host().to_owned(),
    };
    let is_valid =
        is_host && !host_and_port.is_empty() && !authority.host().ends_with('.') && authority.as_str() == host_and_port;
    is_valid.then_some(authority)
}

/// Whether `authority` is this machine's name for itself.
pub fn is_loopback(authority: &Authority) -> bool {
    let name = authority.host();
    let in_brackets = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    match in_brackets {
        Some(name) => name.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback()),
        None => {
            name.eq_ignore_ascii_case("localhost")
                || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &'static str) -> Result<ServiceHosts, ConfigError> {
        ServiceHosts::from_env(&move |name| (name == env_vars::COORD_HOSTS).then(|| list.to_owned()))
    }

    fn is_own(names: &ServiceHosts, host: &str) -> bool {
        names.find_own(&HeaderValue::from_str(host).unwrap()).is_some()
    }

    #[test]
    fn a_host_name_without_a_port_matches_every_port() {
        let own = names("Coord.Example.com, 10.0.0.5:3000,[2001:db8::1]").unwrap();
        for host in [
            "coord.example.com",
            "COORD.example.com:8443",
            "10.0.0.5:3000",
            "[2001:db8::1]:80",
            "localhost:3000",
            "127.0.0.2",
            "[::1]:3000",
        ] {
            assert!(is_own(&own, host), "{host}");
        }
        for host in [
            "",
            "example.com",
            "coord.example.com.evil.example",
            "10.0.0.5",
            "10.0.0.5:3001",
            "user@coord.example.com",
            "coord.example.com:",
            "localhost.example.com",
            "127.0.0.1.example.com",
            "[::2]",
            "a\"b",
        ] {
            assert!(!is_own(&own, host), "{host}");
        }
    }

    #[test]
    fn the_names_that_the_platform_gives_are_ours() {
        let given = |name: &str| (name == env_vars::VERCEL_URL).then(|| "shop-1.vercel.app".to_owned());
        let own = ServiceHosts::from_env(&given).unwrap();
        assert!(is_own(&own, "shop-1.vercel.app"));
        assert!(!is_own(&own, "shop-2.vercel.app"));
        assert!(!is_own(&names("undefined").unwrap(), "undefined"));
    }

    #[test]
    fn an_invalid_host_is_an_error_that_names_the_variable() {
        for list in [
            "https://coord.example.com",
            "*.example.com",
            "a,,b",
            "a b",
            "ann@a",
            "a:",
            "a/b",
            "a:99999",
        ] {
            let error = names(list).expect_err(list);
            assert_eq!(error.variable, "COORD_HOSTS", "{list}");
        }
    }
}
