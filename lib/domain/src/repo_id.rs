use super::{Invalid, quote};

/// A repository: `host/owner/name` in lower case, whatever the form of its URL. `owner` may be a path of groups
/// (`gitlab.com/group/subgroup/name`). User names, ports and `.git` are dropped. Parsing an id, with or without
/// `https://`, returns the same id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RepoId(String);

impl RepoId {
    /// Maximum length of a URL in bytes.
    pub const MAX_URL: usize = coord_protocol::bounds::REPO_URL_BYTES;

    /// The repository that `url` names: `https://`, `http://`, `ssh://`, `git://` or scp form
    /// (`git@host:owner/name.git`), or `host/owner/name`.
    ///
    /// The port is dropped, because one repository often has several (443 and 2222, say).
    ///
    /// # Errors
    /// When it has none of these forms, or a part of it has other characters than letters, digits, `.`, `_`, `~`, `-`.
    pub fn parse(url: &str) -> Result<Self, Invalid> {
        let url = url.trim();
        if url.len() > Self::MAX_URL {
            return Err(Invalid(format!(
                "is {} bytes long; at most {} are allowed",
                url.len(),
                Self::MAX_URL
            )));
        }
        let invalid = |why: &str| {
            Invalid(format!(
                "is not the URL of a repository ({why}); send for example https://github.com/owner/name.git"
            ))
        };
        let schemes = ["https", "http", "ssh", "git"];
        let (host, path) = match url.split_once("://") {
            Some((scheme, rest)) if schemes.iter().any(|name| name.eq_ignore_ascii_case(scheme)) => {
                let (authority, path) = rest.split_once('/').ok_or_else(|| invalid("it has no path"))?;
                let host = authority.rsplit('@').next().unwrap_or_default();
                let host = match host.split_once(':') {
                    Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => host,
                    Some(_) => return Err(invalid("its port is not a number")),
                    None => host,
                };
                (host, path)
            }
            Some((scheme, _)) => {
                return Err(invalid(&format!("{} is not https, ssh or scp form", quote(scheme))));
            }
            None if !url.contains(':') => {
                let host_and_path = url.split_once('/').filter(|(host, _)| is_host(host));
                host_and_path.ok_or_else(|| invalid("it names no host"))?
            }
            None => {
                // Like git: if a slash precedes the colon, it is a path on disk.
                let (authority, path) = url
                    .split_once(':')
                    .filter(|(authority, _)| !authority.contains('/'))
                    .ok_or_else(|| invalid("it names no host"))?;
                (
                    authority.rsplit('@').next().unwrap_or_default(),
                    path.trim_start_matches('/'),
                )
            }
        };
        let mut id = format!("{}/{path}", canonical_host(host)).to_ascii_lowercase();
        // Drops all such endings, because a stored id is parsed as a URL again.
        while let Some(shorter) = id.strip_suffix('/').or_else(|| id.strip_suffix(".git")) {
            id.truncate(shorter.len());
        }
        let is_valid_part = |part: &str| {
            !part.is_empty()
                && part != "."
                && part != ".."
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"._~-".contains(&byte))
        };
        match id.split('/').find(|part| !is_valid_part(part)) {
            Some("") => Err(invalid("a part of it is empty")),
            Some(part) => Err(invalid(&format!("{} is not a name", quote(part)))),
            None if id.split('/').count() < 3 => Err(invalid("it needs an owner and a name")),
            None => Ok(RepoId(id)),
        }
    }

    /// `host/owner/name`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Other hosts of the same repositories: for SSH over port 443, and for the website.
const HOST_ALIASES: [(&str, &str); 4] = [
    ("ssh.github.com", "github.com"),
    ("www.github.com", "github.com"),
    ("altssh.gitlab.com", "gitlab.com"),
    ("altssh.bitbucket.org", "bitbucket.org"),
];

/// The usual name of `host`. A dot at its end only marks a fully qualified name.
fn canonical_host(host: &str) -> &str {
    let host = host.strip_suffix('.').unwrap_or(host);
    let entry = HOST_ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(host));
    entry.map_or(host, |(_, usual_name)| usual_name)
}

/// Whether the first part of a name is a host, and not a folder.
fn is_host(text: &str) -> bool {
    text.eq_ignore_ascii_case("localhost") || text.trim_matches('.').contains('.')
}

impl std::fmt::Display for RepoId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_one_url_is_one_repository() {
        for url in [
            "https://github.com/Dedalus/Core.git",
            "https://github.com/dedalus/core",
            "https://github.com/dedalus/core/",
            "https://github.com/dedalus/core.git/",
            "https://someone:secret@github.com/dedalus/core.git",
            "https://github.com:443/dedalus/core",
            "http://github.com/dedalus/core",
            "git://github.com/dedalus/core.git",
            "ssh://git@github.com/dedalus/core.git",
            "ssh://git@github.com:2222/dedalus/core",
            "git@github.com:dedalus/core.git",
            "git@GitHub.com:dedalus/core",
            "github.com:/dedalus/core.git",
            "  https://github.com/dedalus/core  ",
            "https://github.com/dedalus/core\r\n",
            "HTTPS://GitHub.com/dedalus/core",
            "Ssh://git@github.com/dedalus/core",
            "https://github.com/dedalus/core.Git",
            "https://github.com/dedalus/core.git.git",
            "https://github.com/dedalus/core.git/.git",
            "ssh://git@ssh.github.com:443/dedalus/core.git",
            "ssh.github.com:dedalus/core",
            "https://www.github.com/dedalus/core",
            "https://github.com./dedalus/core",
            "github.com/dedalus/core",
            "GitHub.com/Dedalus/Core.git",
        ] {
            assert_eq!(
                RepoId::parse(url).map(|id| id.0),
                Ok("github.com/dedalus/core".to_owned()),
                "{url}"
            );
        }
        assert_eq!(
            RepoId::parse("https://gitlab.com/a/b/c.git").unwrap().as_str(),
            "gitlab.com/a/b/c"
        );
    }

    #[test]
    fn a_repository_that_could_escape_its_key_is_refused() {
        for url in [
            "",
            " ",
            "core",
            "https://",
            "https://github.com",
            "https://github.com/",
            "https://github.com/dedalus",
            "https://github.com/dedalus/.git",
            "dedalus/core",
            "dedalus/core/main",
            "../dedalus/core",
            "./dedalus/core",
            "https://github.com/dedalus/core\u{feff}",
            "https://github.com/dedalus/..",
            "https://github.com//core",
            "https://github.com/dedalus//core",
            "https://github.com/a/../b/c",
            "file:///srv/core.git",
            "/srv/core.git",
            "dedalus/core:main",
            "/srv/git@host:dedalus/core",
            "https://github.com/dedalus/{core}",
            "https://github.com/dedalus/core}:main",
            "https://github.com/ded:alus/core",
            "https://github.com/dedalus/core\nx",
            "https://github.com/dedalus/co re",
            "https://github.com/dedalus/cоre",
            "https://github.com/dedalus/core%2f",
            "https://github.com/dedalus/core?x=1",
            "https://github.com/dedalus/core#x",
            "https://github.com:x/dedalus/core",
            "https://[::1]/dedalus/core",
            "https://github.com\\dedalus\\core",
            "javascript://github.com/dedalus/core",
        ] {
            assert!(RepoId::parse(url).is_err(), "{url:?}");
        }
        assert!(RepoId::parse(&format!("https://github.com/a/{}", "b".repeat(3000))).is_err());
    }

    #[test]
    fn an_id_is_itself_as_a_name_and_as_an_address() {
        for url in [
            "https://github.com/dedalus/core.git.GIT/",
            "https://localhost/local/core",
            "ssh://git@altssh.gitlab.com:443/a/b/c.git",
            "https://git.example.com./a/b.git/.git",
        ] {
            let id = RepoId::parse(url).unwrap();
            for again in [id.to_string(), format!("https://{id}"), format!("https://{id}.git")] {
                assert_eq!(RepoId::parse(&again), Ok(id.clone()), "{url}");
            }
        }
    }

    #[test]
    fn an_error_never_repeats_a_credential() {
        let error = RepoId::parse("https://user:hunter2@github.com/a/b{c").unwrap_err();
        assert!(!error.0.contains("hunter2"), "{error}");
    }
}
