//! Which pages of other sites may ask: those whose origin is listed in `COORD_CORS_ORIGINS`, and no others.
//!
//! `tower-http`'s layer is not used: it answers every OPTIONS by itself, also for origins that it does not let in and for methods
//! that the route does not have. Here the route answers an OPTIONS first, as any other method that it does not take, with 405 and
//! `Allow`; for an origin that is let in, that becomes the answer to a preflight.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ALLOW, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use url::Url;

use crate::settings::{ConfigError, Environment, env_vars, value_of};

/// Most origins.
const MOST_ORIGINS: usize = 64;

/// What a page may send. Not `X-Coord-User`: on one machine it names a person, and a page is none.
const SENT: HeaderValue =
    HeaderValue::from_static("authorization, content-type, if-none-match, x-coord-agent, x-request-id");

/// What a page may read.
const EXPOSED: HeaderValue = HeaderValue::from_static("etag, retry-after, server-timing, x-request-id");

/// Two hours, in seconds: no browser remembers a preflight for longer.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

/// The origins that are let in, as browsers write them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedOrigins(Vec<String>);

/// What a request says of where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The origin, where it is let in.
    origin: Option<HeaderValue>,
    is_preflight: bool,
}

impl AllowedOrigins {
    /// Those of the environment; `None` where no page of another site may ask.
    ///
    /// # Errors
    /// When an entry is no origin, or `*`.
    pub fn from_env(environment: Environment<'_>) -> Result<Option<Self>, ConfigError> {
        let Some(list) = value_of(environment, env_vars::COORD_CORS_ORIGINS) else {
            return Ok(None);
        };
        let refused = |problem: String| ConfigError {
            variable: env_vars::COORD_CORS_ORIGINS,
            problem,
        };
        let mut origins = Vec::new();
        for entry in list.split(',').map(str::trim) {
            origins.push(parse_origin(entry).map_err(refused)?);
        }
        if origins.len() > MOST_ORIGINS {
            return Err(refused(format!(
                "has {} origins; at most {MOST_ORIGINS} are taken",
                origins.len()
            )));
        }
        Ok(Some(AllowedOrigins(origins)))
    }

    /// What `headers` of a request with `method` ask for.
    pub fn look_at(&self, method: &Method, headers: &HeaderMap) -> Asked {
        let mut origins = headers.get_all(ORIGIN).iter();
        let origin = origins.next().filter(|_| origins.next().is_none());
        Asked {
            origin: origin.filter(|origin| self.allows(origin)).cloned(),
            is_preflight: *method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD),
        }
    }

    fn allows(&self, origin: &HeaderValue) -> bool {
        self.0.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes())
    }
}

impl Asked {
    /// The answer as the page's browser wants it. One for a page that is not let in gets no more than `Vary`.
    pub fn complete(self, mut response: Response) -> Response {
        if let Some(origin) = self.origin {
            let methods = response.headers().get(ALLOW).cloned();
            match methods.filter(|_| self.is_preflight && response.status() == StatusCode::METHOD_NOT_ALLOWED) {
                Some(methods) => {
                    response = StatusCode::NO_CONTENT.into_response();
                    let headers = response.headers_mut();
                    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
                    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, SENT);
                    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
                }
                None => {
                    response.headers_mut().insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
                }
            }
            response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        }
        response.headers_mut().append(VARY, HeaderValue::from_static("origin"));
        response
    }
}

/// `entry` as a browser writes it in `Origin`: lower case, and without a port that goes without saying.
fn parse_origin(entry: &str) -> Result<String, String> {
    if entry == "*" {
        return Err(
            "must not be *: any page on the web could then ask in the name of whoever has it open; list the origins, such as \
             https://coord.example.com"
                .to_owned(),
        );
    }
    let refused = || {
        let shown: String = entry
            .chars()
            .filter(|character| !character.is_control())
            .take(80)
            .collect();
        format!("must be a list of origins such as https://coord.example.com, with commas; {shown:?} is none")
    };
    let (scheme, authority) = entry.split_once("://").ok_or_else(refused)?;
    let is_scheme = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let is_bare = !authority.contains(|character: char| {
        character.is_whitespace() || character.is_control() || "/\\?#@*,%".contains(character)
    });
    if !is_scheme || !is_bare || authority.ends_with(':') {
        return Err(refused());
    }
    let url = Url::parse(entry).map_err(|_| refused())?;
    Ok(url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(list: &str) -> Result<Option<AllowedOrigins>, ConfigError> {
        AllowedOrigins::from_env(&|name| (name == env_vars::COORD_CORS_ORIGINS).then(|| list.to_owned()))
    }

    #[test]
    fn unset_lets_nobody_in() {
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
    fn what_is_no_origin_is_an_error_that_names_the_variable() {
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
    fn an_origin_is_let_in_when_it_is_the_same_to_the_letter() {
        let allowed = origins("https://a.example,http://localhost:5173").unwrap().unwrap();
        let is_allowed = |origin: &str| allowed.allows(&HeaderValue::from_str(origin).unwrap());
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
        let twice: HeaderMap = ["https://a.example", "https://evil.example"]
            .map(|origin| (ORIGIN, HeaderValue::from_static(origin)))
            .into_iter()
            .collect();
        assert_eq!(allowed.look_at(&Method::GET, &twice).origin, None);
    }
}
