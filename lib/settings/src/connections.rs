//! Settings of connections: their maximum number, and the proxies in front.

use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use ipnet::IpNet;

use super::environment::{ConfigError, Environment, number_within, value_of};
use super::variables::env_vars;

/// Maximum number of entries of `COORD_PROXIES`.
const MAX_PROXIES: usize = 64;

/// Settings of connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionConfig {
    /// Maximum number of open connections of the process.
    pub max_connections: usize,
    /// Maximum number of connections from one address.
    pub max_per_address: usize,
    /// Not counted by address, because each proxy has the connections of many callers.
    pub proxies: Proxies,
    /// Whether loopback addresses are counted by address, too; only tests do.
    pub counts_loopback: bool,
}

impl Default for ConnectionConfig {
    fn default() -> Self {
        ConnectionConfig {
            max_connections: ConnectionConfig::MAX_CONNECTIONS,
            max_per_address: ConnectionConfig::MAX_CONNECTIONS / 4,
            proxies: Proxies::default(),
            counts_loopback: false,
        }
    }
}

impl ConnectionConfig {
    /// Maximum number of connections, unless the environment says otherwise.
    const MAX_CONNECTIONS: usize = 4096;

    /// # Errors
    /// When a variable has an invalid value.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let positive_number = |variable: &'static str, default: usize| {
            let problem = "must be a whole number, at least 1";
            number_within(environment, variable, 1..=usize::MAX, default, problem)
        };
        let max_connections = positive_number(env_vars::COORD_MAX_CONNECTIONS, Self::MAX_CONNECTIONS)?;
        Ok(ConnectionConfig {
            max_connections,
            max_per_address: positive_number(
                env_vars::COORD_MAX_CONNECTIONS_PER_ADDRESS,
                (max_connections / 4).max(1),
            )?,
            proxies: Proxies::from_env(environment)?,
            counts_loopback: false,
        })
    }

    /// Whether the connections from `peer` have a separate bound. All agents of this machine share one address, so only
    /// the bound of all connections applies to them.
    pub fn is_counted(&self, peer: IpAddr) -> bool {
        (self.counts_loopback || !peer.to_canonical().is_loopback()) && !self.proxies.contains(peer)
    }
}

/// The addresses of one subscriber: an IPv4 address, or an IPv6 network of 64 bits.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        address => address,
    }
}

/// The addresses of the proxies in front. Their `X-Forwarded-For` names the caller's address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies(Vec<IpNet>);

impl Proxies {
    /// # Errors
    /// When an entry is neither an address nor a network.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let Some(list) = value_of(environment, env_vars::COORD_PROXIES) else {
            return Ok(Proxies::default());
        };
        list.parse()
            .map_err(|problem: String| ConfigError::new(env_vars::COORD_PROXIES, problem))
    }

    /// Whether `address` is that of a proxy.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

impl FromStr for Proxies {
    type Err = String;

    fn from_str(list: &str) -> Result<Self, String> {
        let parse = |entry: &str| {
            let entry = entry.trim();
            entry.parse().or_else(|_| entry.parse::<IpAddr>().map(IpNet::from))
        };
        let networks: Result<Vec<IpNet>, _> = list.split(',').map(parse).collect();
        match networks {
            Ok(networks) if networks.len() <= MAX_PROXIES => Ok(Proxies(networks)),
            Ok(_) => Err(format!("must have at most {MAX_PROXIES} entries")),
            Err(_) => {
                Err("must be addresses or networks such as 10.0.0.5 or 10.0.0.0/24, separated by commas".to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(variable: &'static str, value: &'static str) -> Result<ConnectionConfig, ConfigError> {
        ConnectionConfig::from_env(&move |name| (name == variable).then(|| value.to_owned()))
    }

    #[test]
    fn one_address_gets_a_quarter_of_the_connections_by_default() {
        assert_eq!(ConnectionConfig::from_env(&|_| None), Ok(ConnectionConfig::default()));
        let few = config(env_vars::COORD_MAX_CONNECTIONS, "100").unwrap();
        assert_eq!((few.max_connections, few.max_per_address), (100, 25));
        assert_eq!(config(env_vars::COORD_MAX_CONNECTIONS, "2").unwrap().max_per_address, 1);
        let named = config(env_vars::COORD_MAX_CONNECTIONS_PER_ADDRESS, "7").unwrap();
        assert_eq!((named.max_connections, named.max_per_address), (4096, 7));
    }

    #[test]
    fn an_invalid_value_is_an_error_that_names_the_variable() {
        for (variable, values) in [
            (env_vars::COORD_MAX_CONNECTIONS, &["0", "-1", "many", "1e3"][..]),
            (env_vars::COORD_MAX_CONNECTIONS_PER_ADDRESS, &["0", "1.5"]),
            (
                env_vars::COORD_PROXIES,
                &["proxy", "10.0.0.5,", "10.0.0.0/33", "10.0.0.5:80", "*"],
            ),
        ] {
            for value in values {
                assert_eq!(config(variable, value).unwrap_err().variable, variable, "{value}");
            }
        }
    }

    #[test]
    fn proxies_are_addresses_and_networks() {
        let proxies: Proxies = "10.0.0.5, 172.16.0.0/12,2001:db8::/32".parse().unwrap();
        for (address, is_proxy) in [
            ("10.0.0.5", true),
            ("::ffff:10.0.0.5", true),
            ("10.0.0.6", false),
            ("172.18.3.4", true),
            ("172.32.0.1", false),
            ("2001:db8::7", true),
            ("2001:db9::7", false),
        ] {
            assert_eq!(proxies.contains(address.parse().unwrap()), is_proxy, "{address}");
        }
    }
}
