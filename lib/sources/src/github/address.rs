//! URLs that may be requested: those of the configured API, below a repository with a checked name. A download may lead
//! to another host of the same service, which never gets the credential.

use coord_protocol::loopback::is_loopback;
use url::Url;

use coord_domain::RepoId;

/// The address of GitHub's own API.
pub(super) const PUBLIC_API: &str = "https://api.github.com";

/// The base of an API: `https://api.github.com`, or `https://HOST/api/v3` of a GitHub Enterprise Server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiBase {
    url: Url,
    /// The host in the URLs of the repositories of this API.
    served_host: String,
}

/// Owner and name of a repository, checked: letters, digits, `.`, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Slug {
    pub(super) owner: String,
    pub(super) name: String,
}

impl Slug {
    /// Whether `full_name`, `owner/name`, is the name of this repository; case does not matter.
    pub(super) fn has_name(&self, full_name: &str) -> bool {
        let Some((owner, name)) = full_name.split_once('/') else {
            return false;
        };
        self.owner.eq_ignore_ascii_case(owner) && self.name.eq_ignore_ascii_case(name)
    }
}

impl ApiBase {
    /// Parses the base of an API. `https` is required, because every request contains a credential; loopback hosts may
    /// use `http`.
    ///
    /// # Errors
    /// The problem, worded to follow the name of the setting.
    pub fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text.trim())
            .map_err(|_| format!("is not a URL; write for example {PUBLIC_API} or https://HOST/api/v3"))?;
        if has_credential(&url) || url.query().is_some() || url.fragment().is_some() {
            return Err(
                "must be an address without credential, query or fragment; the credential has its own variable"
                    .to_owned(),
            );
        }
        match url.scheme() {
            "https" => {}
            "http" if is_loopback(&url) => {}
            _ => return Err("must begin with https://; otherwise the credential would be sent unencrypted".to_owned()),
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        // api.github.com serves github.com, and api.COMPANY.ghe.com serves COMPANY.ghe.com. The API of an Enterprise
        // Server is on the host that it serves.
        let served_host = host.strip_prefix("api.").filter(|rest| rest.contains('.'));
        let served_host = served_host.map_or_else(|| host.clone(), str::to_owned);
        Ok(ApiBase { url, served_host })
    }

    /// The host in the URLs of the repositories of this API.
    pub fn served_host(&self) -> &str {
        &self.served_host
    }

    /// The base as configured.
    pub fn as_str(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    /// Whether the API is on this machine, so that it needs neither a proxy nor a certificate.
    pub(super) fn is_loopback(&self) -> bool {
        is_loopback(&self.url)
    }

    pub(super) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Owner and name of `repo`, if this API serves it.
    pub(super) fn slug(&self, repo: &RepoId) -> Option<Slug> {
        let mut parts = repo.as_str().split('/');
        let (host, owner, name, None) = (parts.next()?, parts.next()?, parts.next()?, parts.next()) else {
            return None;
        };
        let is_name = |part: &str| {
            (1..=100).contains(&part.len())
                && part != "."
                && part != ".."
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        };
        (host.eq_ignore_ascii_case(&self.served_host) && is_name(owner) && is_name(name)).then(|| Slug {
            owner: owner.to_owned(),
            name: name.to_owned(),
        })
    }

    /// The URL of `segments` below the base, each percent-encoded, with `query`.
    pub(super) fn url(&self, segments: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    /// The URL of GraphQL: beside the REST API on an Enterprise Server, below it on GitHub itself.
    pub(super) fn graphql(&self) -> Url {
        let mut url = self.url.clone();
        let path = url.path().trim_end_matches('/');
        let path = format!("{}/graphql", path.strip_suffix("/v3").unwrap_or(path));
        url.set_path(&path);
        url
    }

    /// The target of a redirect, if it stays within the API: the same scheme, host and port, below the base.
    pub(super) fn within(&self, from: &Url, location: &str) -> Option<Url> {
        let target = from.join(location).ok()?;
        let base = self.url.path().trim_end_matches('/');
        let rest = target.path().strip_prefix(base)?;
        let is_within = target.origin() == self.url.origin() && rest.starts_with('/') && !has_credential(&target);
        is_within.then_some(target)
    }

    /// The target of a download, if its host is allowed over https: the host of the API, the host that it serves, and
    /// subdomains of that (`codeload.github.com`). An API on this machine may also name its own host over http.
    pub(super) fn download(&self, from: &Url, location: &str) -> Option<Url> {
        let target = from.join(location).ok()?;
        let host = target.host_str()?;
        let is_subdomain = host
            .strip_suffix(self.served_host.as_str())
            .is_some_and(|rest| rest.ends_with('.'));
        let is_known_host =
            Some(host) == self.url.host_str() || host == self.served_host || (is_subdomain && !self.is_loopback());
        let is_safe_scheme = target.scheme() == "https" || (target.scheme() == "http" && self.url.scheme() == "http");
        // Only an API on this machine may use another port.
        let is_other_port = target.port().is_some() && target.port() != self.url.port() && !self.is_loopback();
        (is_known_host && is_safe_scheme && !is_other_port && !has_credential(&target)).then_some(target)
    }
}

impl std::fmt::Display for Slug {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.owner, self.name)
    }
}

fn has_credential(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// The id of `repo` under its new name, on the same host.
pub(super) fn renamed(repo: &RepoId, full_name: &str) -> Option<RepoId> {
    let (host, _) = repo.as_str().split_once('/')?;
    RepoId::parse(&format!("https://{host}/{full_name}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(text: &str) -> ApiBase {
        ApiBase::parse(text).unwrap()
    }

    fn repo(url: &str) -> RepoId {
        RepoId::parse(url).unwrap()
    }

    #[test]
    fn an_api_serves_the_host_that_its_repositories_are_named_by() {
        for (base, served_host) in [
            (PUBLIC_API, "github.com"),
            ("https://api.github.com/", "github.com"),
            ("https://api.acme.ghe.com", "acme.ghe.com"),
            ("https://git.example.com/api/v3", "git.example.com"),
            ("https://git.example.com:8443/api/v3/", "git.example.com"),
            ("http://127.0.0.1:4000", "127.0.0.1"),
        ] {
            assert_eq!(api(base).served_host(), served_host, "{base}");
        }
    }

    #[test]
    fn a_base_without_tls_or_with_a_credential_is_refused() {
        for base in [
            "",
            "api.github.com",
            "http://api.github.com",
            "http://127.0.0.1.example.com",
            "ftp://127.0.0.1",
            "https://token@api.github.com",
            "https://api.github.com?access_token=x",
            "https://api.github.com#x",
        ] {
            let error = ApiBase::parse(base).unwrap_err();
            assert!(!error.contains("token@"), "{error}");
        }
    }

    #[test]
    fn only_an_owner_and_a_name_on_the_served_host_are_a_repository() {
        let public = api(PUBLIC_API);
        let slug = public.slug(&repo("https://github.com/Dedalus/core.js")).unwrap();
        assert_eq!(slug.to_string(), "dedalus/core.js");
        for other in [
            "https://gitlab.com/a/b",
            "https://api.github.com/a/b",
            "https://github.com.example.com/a/b",
            "https://github.com/a/b/c",
            "https://github.com/a~b/c",
            "https://127.0.0.1/a/b",
            "https://169.254.169.254/latest/meta-data",
        ] {
            assert_eq!(public.slug(&repo(other)), None, "{other}");
        }
        let long = "n".repeat(101);
        assert_eq!(public.slug(&repo(&format!("https://github.com/a/{long}"))), None);
    }

    #[test]
    fn segments_stay_segments() {
        let url = api("https://git.example.com/api/v3/").url(
            &["repos", "a", "b", "commits", "heads", "feat#1?x=%2F", "größe"],
            &[("per_page", "1"), ("sha", "a&b")],
        );
        assert_eq!(
            url.as_str(),
            "https://git.example.com/api/v3/repos/a/b/commits/heads/feat%231%3Fx=%252F/gr%C3%B6%C3%9Fe?per_page=1&sha=a%26b"
        );
    }

    #[test]
    fn graphql_is_beside_or_below_the_rest_api() {
        for (base, graphql) in [
            (PUBLIC_API, "https://api.github.com/graphql"),
            ("https://api.acme.ghe.com/", "https://api.acme.ghe.com/graphql"),
            ("https://git.example.com/api/v3", "https://git.example.com/api/graphql"),
            (
                "https://git.example.com:8443/api/v3/",
                "https://git.example.com:8443/api/graphql",
            ),
        ] {
            assert_eq!(api(base).graphql().as_str(), graphql);
        }
    }

    #[test]
    fn a_redirect_of_the_api_stays_within_it() {
        let enterprise = api("https://git.example.com/api/v3");
        let from = enterprise.url(&["repos", "a", "b"], &[]);
        let within = |location: &str| enterprise.within(&from, location).map(String::from);
        assert_eq!(
            within("https://git.example.com/api/v3/repositories/7").as_deref(),
            Some("https://git.example.com/api/v3/repositories/7")
        );
        assert!(within("/api/v3/repositories/7").is_some());
        for location in [
            "https://git.example.com/other",
            "https://git.example.com/api/v3x/repositories/7",
            "https://git.example.com/api/v3/../../etc",
            "http://git.example.com/api/v3/repositories/7",
            "https://git.example.com:444/api/v3/repositories/7",
            "https://evil.example.com/api/v3/repositories/7",
            "https://user@git.example.com/api/v3/repositories/7",
            "//evil.example.com/api/v3/x",
            "file:///etc/passwd",
            "https://",
        ] {
            assert_eq!(within(location), None, "{location}");
        }
    }

    #[test]
    fn a_download_comes_from_a_host_of_the_service_over_tls() {
        let public = api(PUBLIC_API);
        let from = public.url(&["repos", "a", "b", "tarball", "x"], &[]);
        let allowed = |location: &str| public.download(&from, location).is_some();
        assert!(allowed("https://codeload.github.com/a/b/legacy.tar.gz/x?token=t"));
        assert!(allowed("https://github.com/a/b/archive/x.tar.gz"));
        for location in [
            "http://codeload.github.com/a/b",
            "https://codeload.github.com:8443/a/b",
            "https://codeloadgithub.com/a/b",
            "https://github.com.example.com/a/b",
            "https://example.com/a/b",
            "https://169.254.169.254/latest",
            "https://localhost/",
            "https://u:p@codeload.github.com/a/b",
            "file:///etc/passwd",
        ] {
            assert!(!allowed(location), "{location}");
        }
        let local = api("http://127.0.0.1:4000");
        let from = local.url(&["repos"], &[]);
        assert!(local.download(&from, "http://127.0.0.1:5000/a").is_some());
        assert!(local.download(&from, "http://localhost:5000/a").is_none());
        assert!(local.download(&from, "http://169.254.169.254/a").is_none());
        assert!(local.download(&from, "http://x.127.0.0.1/a").is_none());
    }
}
