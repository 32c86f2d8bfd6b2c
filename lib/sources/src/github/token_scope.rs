//! Scopes that a deployment may require of callers' tokens.

/// A scope of an OAuth token or a classic personal token. The rights of other tokens come from GitHub itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Repo,
    PublicRepo,
}

impl Scope {
    pub(super) fn parse(text: &str) -> Option<Self> {
        [Scope::Repo, Scope::PublicRepo]
            .into_iter()
            .find(|scope| scope.as_str() == text)
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Scope::Repo => "repo",
            Scope::PublicRepo => "public_repo",
        }
    }

    /// Whether it is among `granted`, the value of `X-OAuth-Scopes`. `repo` includes `public_repo`.
    pub(super) fn is_in(self, granted: &str) -> bool {
        let mut granted = granted.split(',').map(str::trim);
        granted.any(|scope| scope == self.as_str() || scope == Scope::Repo.as_str())
    }
}

/// Whether tokens of this form have scopes.
pub(super) fn has_scopes(token: &str) -> bool {
    !["github_pat_", "ghu_", "ghs_"]
        .iter()
        .any(|prefix| token.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_demanded_of_tokens_that_have_scopes() {
        for (granted, repo, public) in [
            ("", false, false),
            ("read:user, gist", false, false),
            ("repo:status, xrepo", false, false),
            ("gist, public_repo", false, true),
            ("gist,repo", true, true),
        ] {
            assert_eq!(Scope::Repo.is_in(granted), repo, "{granted}");
            assert_eq!(Scope::PublicRepo.is_in(granted), public, "{granted}");
        }
        assert!(has_scopes("gho_a") && has_scopes("ghp_a") && has_scopes("0123"));
        assert!(!has_scopes("github_pat_a") && !has_scopes("ghu_a") && !has_scopes("ghs_a"));
        assert_eq!(Scope::parse("admin"), None);
    }
}
