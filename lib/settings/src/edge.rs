//! Settings of the HTTP edge: origins for CORS, the proxy in front, and the time limit of responses.

use std::time::Duration;

use url::Url;

use super::connections::Proxies;
use super::environment::{ConfigError, Environment, printable_start, value_of};
use super::service_hosts::ServiceHosts;
use super::variables::env_vars;

/// Maximum number of entries of `COORD_CORS_ORIGINS`.
const MAX_ORIGINS: usize = 64;

/// Settings of the HTTP edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Origins of other sites whose pages may send requests.
    pub cors: Option<AllowedOrigins>,
    /// The hosts under which the service is reached.
    pub own_hosts: ServiceHosts,
    /// Whether a proxy is in front whose headers (`X-Forwarded-Proto`, `X-Vercel-Id`) can be trusted.
    pub is_behind_proxy: bool,
    /// Other proxies, whose `X-Forwarded-For` alone can be trusted.
    pub proxies: Proxies,
    /// Time limit of a response; the sweep has `Endpoint::extra_time` more.
    pub time_limit: Duration,
}

impl Default for Edge {
    fn default() -> Self {
        Edge {
            cors: None,
            own_hosts: ServiceHosts::default(),
            is_behind_proxy: false,
            proxies: Proxies::default(),
            // Five seconds before the platform stops a function and sends its own page.
            time_limit: Duration::from_secs(25),
        }
    }
}

impl Edge {
    /// # Errors
    /// When a variable has an invalid value.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        Ok(Edge {
            cors: AllowedOrigins::from_env(environment)?,
            own_hosts: ServiceHosts::from_env(environment)?,
            proxies: Proxies::from_env(environment)?,
            ..Edge::default()
        })
    }
}

/// The allowed origins, as browsers write them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedOrigins(Vec<String>);

impl AllowedOrigins {
    /// The origins in the environment; `None` if no other site is allowed.
    ///
    /// # Errors
    /// When an entry is `*` or not an origin.
    pub fn from_env(environment: Environment<'_>) -> Result<Option<Self>, ConfigError> {
        let Some(list) = value_of(environment, env_vars::COORD_CORS_ORIGINS) else {
            return Ok(None);
        };
        let config_error = |problem: String| ConfigError::new(env_vars::COORD_CORS_ORIGINS, problem);
        let origins = list.split(',').map(|entry| parse_origin(entry.trim()));
        let origins: Vec<String> = origins.collect::<Result<_, _>>().map_err(config_error)?;
        if origins.len() > MAX_ORIGINS {
            return Err(config_error(format!(
                "has {} origins; at most {MAX_ORIGINS} are allowed",
                origins.len()
            )));
        }
        Ok(Some(AllowedOrigins(origins)))
    }

    /// Whether `origin`, as a browser sends it, is allowed.
    pub fn allows(&self, origin: &[u8]) -> bool {
        self.0.iter().any(|allowed| allowed.as_bytes() == origin)
    }
}

/// `entry` as a browser writes it in `Origin`: lower case, and without a default port.
fn parse_origin(entry: &str) -> Result<String, String> {
    if entry == "*" {
        return Err(
            "must not be *: any web page could then send requests in the name of its visitors; list the origins, such \
             as https://coord.example.com"
                .to_owned(),
        );
    }
    let problem = || {
        let start = printable_start(entry);
        format!("must be origins such as https://coord.example.com, separated by commas; {start:?} is not an origin")
    };
    let (scheme, authority) = entry.split_once("://").ok_or_else(problem)?;
    let is_http = ["http", "https"].iter().any(|name| scheme.eq_ignore_ascii_case(name));
    let is_host_and_port = !authority.contains(|character: char| {
        character.is_whitespace() || character.is_control() || "/\\?#@*,%".contains(character)
    });
    if !is_http || !is_host_and_port || authority.ends_with(':') {
        return Err(problem());
    }
    let url = Url::parse(entry).map_err(|_| problem())?;
    Ok(url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(list: &str) -> Result<Option<AllowedOrigins>, ConfigError> {
        AllowedOrigins::from_env(&|name| (name == env_vars::COORD_CORS_ORIGINS).then(|| list.to_owned()))
    }

    #[test]
    fn an_unset_origin_list_allows_no_origin() {
        for list in ["", " ", "undefined", "null"] {
            assert_eq!(origins(list), Ok(None), "{list:?}");
        }
    }

    #[test]
    fn origins_are_kept_as_browsers_write_them() {
        let list = "https://Coord.Example.com , http://localhost:5173,https://a.example:443,http://[::1]:80,https://bücher.example";
        let expected = [
            "https://coord.example.com",
            "http://localhost:5173",
            "https://a.example",
            "http://[::1]",
            "https://xn--bcher-kva.example",
        ];
        assert_eq!(
            origins(list),
            Ok(Some(AllowedOrigins(expected.map(str::to_owned).to_vec())))
        );
    }

    #[test]
    fn an_invalid_origin_is_an_error_that_names_the_variable() {
        for entry in [
            "*",
            "https://*",
            "https://*.example.com",
            "example.com",
            "//example.com",
            "https://",
            "https://example.com/",
            "https://example.com/app",
            "https://example.com?x",
            "https://example.com#x",
            "https://ann@example.com",
            "https://ann:pw@example.com",
            "https://example.com:99999",
            "https://example.com:",
            "https://exa mple.com",
            "https:\\\\example.com",
            "ftp://example.com",
            "file://",
            "javascript:alert(1)",
            "https://a.example,",
            "https://a.example,,https://b.example",
            "https://a.example,null",
            "https://a.example https://b.example",
        ] {
            let error = origins(entry).expect_err(entry);
            assert_eq!(error.variable, "COORD_CORS_ORIGINS", "{entry}");
            assert!(error.to_string().contains("https://coord.example.com"), "{error}");
        }
        let many = vec!["https://a.example"; 65].join(",");
        assert!(origins(&many).is_err());
    }

    #[test]
    fn an_origin_is_allowed_only_when_it_matches_exactly() {
        let allowed = origins("https://a.example,http://localhost:5173").unwrap().unwrap();
        let is_allowed = |origin: &str| allowed.allows(origin.as_bytes());
        assert!(is_allowed("https://a.example") && is_allowed("http://localhost:5173"));
        for other in [
            "http://a.example",
            "https://a.example:8443",
            "https://a.example.evil.example",
            "https://evil-a.example",
            "https://sub.a.example",
            "https://a.example/",
            "http://localhost",
            "null",
            "",
        ] {
            assert!(!is_allowed(other), "{other}");
        }
    }
}
