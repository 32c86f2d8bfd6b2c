//! The address of a Redis server and its login, parsed from a URL.

use std::path::PathBuf;

use redis::RedisConnectionInfo;
use url::{Host, Url};

use crate::StoreError;

const DEFAULT_PORT: u16 = 6379;

/// The address that a server listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ServerAddress {
    /// A host (a name or an IP address without brackets) and port.
    Tcp { host: String, port: u16, is_tls: bool },
    /// A Unix domain socket.
    Unix(PathBuf),
}

/// A server and its credential. `Display` omits the credential.
#[derive(Clone)]
pub(super) struct Address {
    pub server: ServerAddress,
    /// User, password, database.
    pub login: RedisConnectionInfo,
}

impl std::fmt::Display for Address {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.server {
            ServerAddress::Tcp { host, port, is_tls } => {
                let scheme = if *is_tls { "rediss" } else { "redis" };
                let (open, close) = if host.contains(':') { ("[", "]") } else { ("", "") };
                write!(formatter, "{scheme}://{open}{host}{close}:{port}/{}", self.login.db())
            }
            ServerAddress::Unix(path) => write!(formatter, "unix://{}", path.display()),
        }
    }
}

impl Address {
    /// Parses `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`, the same with `rediss`, `valkey` and `valkeys`, or
    /// `unix:///PATH[?db=N&user=U&pass=P]`.
    ///
    /// # Errors
    /// [`StoreError::NotConfigured`]; the text never contains a part of the URL.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        // The parser's own messages are omitted: they may quote the URL.
        let url = Url::parse(text.trim()).map_err(|_| refusal("is not a URL; write for example redis://HOST:6379"))?;
        match url.scheme() {
            "redis" | "valkey" => Self::tcp(&url, false),
            "rediss" | "valkeys" => Self::tcp(&url, true),
            "unix" | "redis+unix" | "valkey+unix" => Self::unix(&url),
            _ => Err(refusal("must begin with redis://, rediss:// or unix://")),
        }
    }

    fn tcp(url: &Url, is_tls: bool) -> Result<Self, StoreError> {
        if url.fragment().is_some() {
            return Err(refusal(
                "must not have a fragment (#); certificates are always verified",
            ));
        }
        let host = match url.host() {
            // For these schemes, the parser does not normalize the name, which may be percent-encoded.
            Some(Host::Domain(name)) if !name.is_empty() => name.to_owned(),
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            _ => return Err(refusal("names no host")),
        };
        let server = ServerAddress::Tcp {
            host,
            port: url.port().unwrap_or(DEFAULT_PORT),
            is_tls,
        };
        let mut login = login(database(url.path().trim_matches('/'))?);
        if !url.username().is_empty() {
            login = login.set_username(decode(url.username())?);
        }
        if let Some(password) = url.password() {
            login = login.set_password(decode(password)?);
        }
        Ok(Address { server, login })
    }

    fn unix(url: &Url) -> Result<Self, StoreError> {
        let path = decode(url.path())?;
        if path.len() < 2 || url.host_str().is_some_and(|host| !host.is_empty()) {
            return Err(refusal("does not name the absolute path of a socket"));
        }
        let query = |name: &str| {
            url.query_pairs()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.into_owned())
        };
        let mut login = login(database(&query("db").unwrap_or_default())?);
        if let Some(user) = query("user") {
            login = login.set_username(user);
        }
        if let Some(password) = query("pass") {
            login = login.set_password(password);
        }
        Ok(Address {
            server: ServerAddress::Unix(path.into()),
            login,
        })
    }
}

fn login(database: i64) -> RedisConnectionInfo {
    // Redis 7.0 does not know CLIENT SETINFO, and nothing here uses it.
    RedisConnectionInfo::default().set_db(database).set_skip_set_lib_name()
}

fn database(text: &str) -> Result<i64, StoreError> {
    if text.is_empty() {
        return Ok(0);
    }
    text.parse()
        .ok()
        .filter(|number| *number >= 0)
        .ok_or_else(|| refusal("has a path that is not the number of a database"))
}

fn decode(text: &str) -> Result<String, StoreError> {
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8();
    decoded
        .map(Into::into)
        .map_err(|_| refusal("holds percent-encoded bytes that are not UTF-8"))
}

fn refusal(problem: &str) -> StoreError {
    StoreError::NotConfigured(format!("the URL of the Redis server {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(host: &str, port: u16, is_tls: bool) -> ServerAddress {
        ServerAddress::Tcp {
            host: host.into(),
            port,
            is_tls,
        }
    }

    #[test]
    fn the_documented_forms_of_url_are_read() {
        let table = [
            ("redis://localhost", tcp("localhost", 6379, false), 0, None, None),
            (" valkey://h:7000/3\n", tcp("h", 7000, false), 3, None, None),
            (
                "rediss://:p%40ss@h.example:1/",
                tcp("h.example", 1, true),
                0,
                None,
                Some("p@ss"),
            ),
            (
                "redis://me:pw@[::1]:6380/2",
                tcp("::1", 6380, false),
                2,
                Some("me"),
                Some("pw"),
            ),
            (
                "unix:///run/redis.sock?db=4&pass=x",
                ServerAddress::Unix("/run/redis.sock".into()),
                4,
                None,
                Some("x"),
            ),
        ];
        for (text, server, database, user, password) in table {
            let address = Address::parse(text).expect(text);
            assert_eq!(address.server, server, "{text}");
            let login = address.login;
            assert_eq!(
                (login.db(), login.username(), login.password()),
                (database, user, password),
                "{text}"
            );
        }
    }

    #[test]
    fn other_urls_are_refused_without_being_quoted() {
        let texts = [
            "",
            "hunter2",
            "http://u:hunter2@h",
            "redis://u:hunter2@",
            "redis://u:hunter2@h/x",
            "redis://u:hunter2@h/-1",
            "redis://u:hunter2@h:99999",
            "rediss://u:hunter2@h#insecure",
            "redis://u:hunter2%ff@h",
            "unix://",
            "unix://host/hunter2",
        ];
        for text in texts {
            let error = Address::parse(text).err().expect(text);
            assert!(matches!(error, StoreError::NotConfigured(_)), "{text}: {error:?}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn an_address_is_shown_without_its_credential() {
        let shown = Address::parse("rediss://me:hunter2@[::1]:1/5").unwrap().to_string();
        assert_eq!(shown, "rediss://[::1]:1/5");
        let shown = Address::parse("unix:///s?pass=hunter2").unwrap().to_string();
        assert_eq!(shown, "unix:///s");
    }
}
