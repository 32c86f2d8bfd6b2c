use serde_json::Value;

use coord_domain::{Invalid, RepoId};

/// A set of repositories, by name or by owner: those in the claim `repos` of a token, or those that a deployment
/// serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoLimit(Vec<Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Repository(RepoId),
    /// `host/owner/`: every repository id that starts with it.
    Prefix(String),
}

impl RepoLimit {
    /// The limit in a claim: a list of repositories, each `host/owner/name`, a URL as [`RepoId::parse`] takes it, or
    /// `host/owner/*` for all repositories of an owner, subgroups included. A token with an empty list counts nowhere.
    ///
    /// # Errors
    /// When any entry is something else: an unreadable limit must not count as no limit.
    pub(super) fn parse(claim: &Value) -> Result<Self, Invalid> {
        let values = claim
            .as_array()
            .ok_or_else(|| Invalid("is not a list of repositories".to_owned()))?;
        let entries = values.iter().map(|value| {
            let text = value
                .as_str()
                .ok_or_else(|| Invalid("holds an entry that is not a string".to_owned()))?;
            parse_entry(text)
        });
        entries.collect::<Result<_, _>>().map(RepoLimit)
    }

    /// The list in `text`, separated by commas; an entry without a host is on `host`. `None` if an entry is not valid.
    pub fn of_host(text: &str, host: &str) -> Option<Self> {
        let entries = text.split(',').map(|name| {
            let name = name.trim();
            let has_no_host = name.split('/').count() == 2 && !name.contains([':', '@']);
            let entry = if has_no_host {
                parse_entry(&format!("{host}/{name}"))
            } else {
                parse_entry(name)
            };
            entry.ok()
        });
        entries.collect::<Option<_>>().map(RepoLimit)
    }

    /// Whether `repo` is in the set.
    pub fn includes(&self, repo: &RepoId) -> bool {
        self.0.iter().any(|entry| match entry {
            Entry::Repository(entry) => entry == repo,
            Entry::Prefix(prefix) => repo.as_str().starts_with(prefix),
        })
    }
}

fn parse_entry(text: &str) -> Result<Entry, Invalid> {
    let Some(owner) = text.strip_suffix("/*") else {
        return parse_repository(text).map(Entry::Repository);
    };
    // Parsed as a repository of the owner: this applies the rules for names, and rejects an empty owner.
    let any = parse_repository(&format!("{owner}/any"))?;
    let prefix = any.as_str().strip_suffix("any").unwrap_or(any.as_str());
    Ok(Entry::Prefix(prefix.to_owned()))
}

fn parse_repository(text: &str) -> Result<RepoId, Invalid> {
    RepoId::parse(text)
        .or_else(|_| RepoId::parse(&format!("https://{text}")))
        .map_err(|_| {
            Invalid(
                "holds an entry that is not a repository; write host/owner/name, its URL, or host/owner/*".to_owned(),
            )
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn counts(claim: &Value, repo: &str) -> bool {
        RepoLimit::parse(claim).unwrap().includes(&RepoId::parse(repo).unwrap())
    }

    #[test]
    fn a_token_counts_only_for_the_repositories_in_its_claim() {
        let shop = "https://github.com/acme/shop.git";
        for entry in [
            "github.com/acme/shop",
            "GitHub.com/Acme/Shop",
            "https://github.com/acme/shop",
            "git@github.com:acme/shop.git",
            "github.com/acme/*",
            "https://github.com/acme/*",
            "git@github.com:acme/*",
        ] {
            assert!(counts(&json!(["github.com/other/one", entry]), shop), "{entry}");
        }
        for entry in [
            "github.com/acme/sho",
            "github.com/acme/shop2",
            "github.com/acme/shop/more",
            "github.com/acm/*",
            "github.com/acme/shop/*",
            "gitlab.com/acme/*",
            "evil.github.com/acme/*",
        ] {
            assert!(!counts(&json!([entry]), shop), "{entry}");
        }
        assert!(!counts(&json!([]), shop));
        assert!(!counts(
            &json!(["github.com/acme/*"]),
            "https://github.com/acme-corp/shop"
        ));
        assert!(counts(
            &json!(["gitlab.com/acme/*"]),
            "https://gitlab.com/acme/web/shop"
        ));
    }

    #[test]
    fn a_claim_that_cannot_be_read_is_never_no_limit() {
        for claim in [
            json!(null),
            json!(true),
            json!(7),
            json!({}),
            json!("github.com/acme/shop"),
            json!("*"),
            json!([null]),
            json!([["github.com/acme/shop"]]),
            json!([""]),
            json!(["*"]),
            json!(["/*"]),
            json!(["*/*"]),
            json!(["github.com/*"]),
            json!(["github.com/*/*"]),
            json!(["github.com/*/shop"]),
            json!(["github.com/acme/**"]),
            json!(["github.com/acme/../*"]),
            json!(["github.com/acme//*"]),
            json!(["github.com/acme"]),
            json!(["github.com/acme/shop\n"]),
            json!(["github.com/acme/shop", "{}"]),
            json!(["github.com/аcme/*"]),
        ] {
            let parsed = RepoLimit::parse(&claim);
            // A line break at the end is trimmed, as in every URL.
            let is_harmless = claim == json!(["github.com/acme/shop\n"]);
            assert_eq!(parsed.is_ok(), is_harmless, "{claim}");
        }
    }
}
