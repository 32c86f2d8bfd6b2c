//! Settings from the environment, read once: [`Settings`]. [`variables`] lists them.

pub mod connections;
pub mod edge;
pub mod environment;
pub mod intents;
pub mod own_names;
pub mod teams;
pub mod variables;

use std::sync::Arc;
use std::time::Duration;

use coord_graph::Limits;
use secrecy::SecretString;

use crate::auth::{JwtVerifier, RepoLimit};
use crate::domain::NeighborPolicy;
use crate::heads::HeadAges;
use crate::source::github::ApiBase;
use crate::state::admission::Rates;
use crate::state::locks::PolicyTerms;
use edge::Edge;
use environment::long_secret;
pub use environment::{ConfigError, Environment, process_environment, secret, value_of};
pub use intents::{Handshake, IntentConfig, IntentPolicy};
pub use teams::TeamConfig;
pub use variables::env_vars;

/// Settings from the environment, except those of the store and of the source.
#[derive(Default)]
pub struct Settings {
    /// Settings of locks.
    pub locks: LockConfig,
    /// Maximum ages of heads that are kept in the store.
    pub head_ages: HeadAges,
    /// Rate limits.
    pub rates: Rates,
    /// Settings of the HTTP edge.
    pub edge: Edge,
    /// Verifies the JWTs that name callers.
    pub jwt: Option<JwtVerifier>,
    /// The only repositories that are served; `None` for all.
    pub repositories: Option<RepoLimit>,
    /// Whether graphs of public repositories may be read without a credential.
    pub is_graph_public: bool,
    /// The secret that the cron sends.
    pub cron_secret: Option<SecretString>,
    /// The secret that signs GitHub's webhook deliveries.
    pub webhook_secret: Option<SecretString>,
    /// Limits of one graph.
    pub graph_limits: Limits,
    /// Settings of intents and of their ledger.
    pub intents: Arc<IntentConfig>,
    /// Settings of teams.
    pub teams: TeamConfig,
}

impl Settings {
    /// # Errors
    /// When a variable has an invalid value.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        Ok(Settings {
            locks: LockConfig::from_env(environment)?,
            head_ages: HeadAges::from_env(environment)?,
            rates: Rates::from_env(environment)?,
            edge: Edge::from_env(environment)?,
            jwt: JwtVerifier::from_env(environment)?,
            repositories: repositories(environment)?,
            is_graph_public: is_graph_public(environment)?,
            cron_secret: long_secret(environment, env_vars::CRON_SECRET)?,
            webhook_secret: secret(environment, env_vars::GITHUB_WEBHOOK_SECRET),
            graph_limits: graph_limits(environment)?,
            intents: Arc::new(IntentConfig::from_env(environment)?),
            teams: TeamConfig::from_env(environment)?,
        })
    }
}

/// Settings of locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockConfig {
    /// Seconds until a lock expires, unless it is renewed.
    pub ttl_seconds: u32,
    /// Maximum of these seconds that a repository's policy can set.
    pub most_ttl_seconds: u32,
    /// Seconds for which a waiting claim lets later ones take its files.
    pub queue_patience_seconds: u32,
    /// The effect of a neighbor that is locked for writing, unless a repository's policy says another.
    pub neighbor_policy: NeighborPolicy,
    /// How long a release waits for the source to report which of the released files are unchanged.
    pub comparison_time: Duration,
}

impl Default for LockConfig {
    fn default() -> Self {
        LockConfig {
            ttl_seconds: 300,
            most_ttl_seconds: 3600,
            queue_patience_seconds: PolicyTerms::DEFAULT_PATIENCE_SECONDS,
            neighbor_policy: NeighborPolicy::Interface,
            comparison_time: Duration::from_secs(2),
        }
    }
}

impl LockConfig {
    /// Maximum lifetime of a lock without renewal: a day.
    pub const MAX_TTL_SECONDS: u32 = 86_400;

    /// # Errors
    /// When a variable has an invalid value.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let mut config = LockConfig::default();
        for (variable, value) in [
            (env_vars::COORD_LOCK_TTL_SECONDS, &mut config.ttl_seconds),
            (env_vars::COORD_LOCK_TTL_MAX_SECONDS, &mut config.most_ttl_seconds),
            (env_vars::COORD_QUEUE_PATIENCE, &mut config.queue_patience_seconds),
        ] {
            let Some(text) = value_of(environment, variable) else {
                continue;
            };
            let seconds = text
                .parse()
                .ok()
                .filter(|seconds| (1..=Self::MAX_TTL_SECONDS).contains(seconds));
            *value = seconds.ok_or(ConfigError {
                variable,
                problem: format!("must be a number of seconds from 1 to {}", Self::MAX_TTL_SECONDS),
            })?;
        }
        if let Some(text) = value_of(environment, env_vars::COORD_NEIGHBOR_POLICY) {
            config.neighbor_policy = NeighborPolicy::parse(&text).ok_or(ConfigError {
                variable: env_vars::COORD_NEIGHBOR_POLICY,
                problem: "must be block, interface, warn or off".to_owned(),
            })?;
        }
        Ok(config)
    }
}

/// The repositories in `COORD_REPOSITORIES`, those without a host on that of GitHub's API; `None` if it is unset.
///
/// # Errors
/// When an entry is no repository and no owner, or the address of the API is none.
fn repositories(environment: Environment<'_>) -> Result<Option<RepoLimit>, ConfigError> {
    let Some(list) = value_of(environment, env_vars::COORD_REPOSITORIES) else {
        return Ok(None);
    };
    let listed = RepoLimit::of_host(&list, ApiBase::from_env(environment)?.serves());
    listed.map(Some).ok_or_else(|| ConfigError {
        variable: env_vars::COORD_REPOSITORIES,
        problem:
            "must be OWNER/NAME and OWNER/*, separated by commas; those of another host than GitHub's begin with it"
                .to_owned(),
    })
}

/// Whether `COORD_PUBLIC_GRAPH` allows reading graphs without a credential.
///
/// # Errors
/// When it is neither `1` nor `0`.
pub fn is_graph_public(environment: Environment<'_>) -> Result<bool, ConfigError> {
    match value_of(environment, env_vars::COORD_PUBLIC_GRAPH).as_deref() {
        None | Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(_) => Err(ConfigError {
            variable: env_vars::COORD_PUBLIC_GRAPH,
            problem: "must be 1 or 0".to_owned(),
        }),
    }
}

/// Limits of one graph.
///
/// # Errors
/// When a variable has an invalid value.
pub fn graph_limits(environment: Environment<'_>) -> Result<Limits, ConfigError> {
    let number = |variable: &'static str, default: u64| match value_of(environment, variable) {
        None => Ok(default),
        Some(text) => text.parse().ok().filter(|number| *number > 0).ok_or(ConfigError {
            variable,
            problem: "must be a whole number, at least 1".to_owned(),
        }),
    };
    let default = Limits::default();
    let files = number(env_vars::COORD_GRAPH_MAX_FILES, default.max_files as u64)?;
    let imports = number(env_vars::COORD_GRAPH_MAX_IMPORTS, default.max_imports as u64)?;
    Ok(Limits {
        max_file_bytes: number(env_vars::COORD_GRAPH_MAX_FILE_BYTES, default.max_file_bytes)?,
        max_files: usize::try_from(files).unwrap_or(usize::MAX),
        max_imports: usize::try_from(imports).unwrap_or(usize::MAX),
        max_bytes: number(env_vars::COORD_GRAPH_MAX_BYTES, default.max_bytes)?,
        ..default
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RepoId;

    fn lock_config(ttl: &str, policy: &str) -> Result<LockConfig, ConfigError> {
        LockConfig::from_env(&|name| match name {
            env_vars::COORD_LOCK_TTL_SECONDS => Some(ttl.to_owned()),
            env_vars::COORD_NEIGHBOR_POLICY => Some(policy.to_owned()),
            _ => None,
        })
    }

    #[test]
    fn an_unset_setting_has_its_default() {
        assert_eq!(LockConfig::from_env(&|_| None), Ok(LockConfig::default()));
        assert_eq!(lock_config("", "undefined"), Ok(LockConfig::default()));
    }

    #[test]
    fn a_value_that_is_not_taken_is_an_error_that_names_the_variable() {
        for (ttl, policy, variable) in [
            ("0", "", env_vars::COORD_LOCK_TTL_SECONDS),
            ("-1", "", env_vars::COORD_LOCK_TTL_SECONDS),
            ("86401", "", env_vars::COORD_LOCK_TTL_SECONDS),
            ("5m", "", env_vars::COORD_LOCK_TTL_SECONDS),
            ("", "maybe", env_vars::COORD_NEIGHBOR_POLICY),
        ] {
            assert_eq!(lock_config(ttl, policy).unwrap_err().variable, variable);
        }
    }

    #[test]
    fn the_limits_of_a_graph_are_whole_numbers() {
        let with = |value: &'static str| graph_limits(&move |_| Some(value.to_owned()));
        let limits = with("7").unwrap();
        assert_eq!((limits.max_files, limits.max_bytes, limits.max_file_bytes), (7, 7, 7));
        assert_eq!(limits.max_imports, 7);
        assert_eq!(graph_limits(&|_| None), Ok(Limits::default()));
        for refused in ["0", "-1", "4 GiB", "1e6", "1.5"] {
            assert!(with(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn served_repositories_are_a_list_of_names_and_owners() {
        let with = |list: &str| repositories(&|name| (name == env_vars::COORD_REPOSITORIES).then(|| list.to_owned()));
        let served = |list: &str, name: &str| {
            let repo = RepoId::parse(&format!("https://{name}")).unwrap();
            with(list).unwrap().is_none_or(|listed| listed.takes_in(&repo))
        };
        assert!(served("", "github.com/any/thing"));
        let list = "acme/shop, Umbrella/*,github.com/initech/tps,gitlab.com/acme/*";
        for name in ["acme/shop", "ACME/Shop", "umbrella/any", "initech/tps"] {
            assert!(served(list, &format!("github.com/{name}")), "{name}");
        }
        assert!(served(list, "gitlab.com/acme/web/shop"));
        for name in ["acme/other", "umbrellas/any", "initech/other"] {
            assert!(!served(list, &format!("github.com/{name}")), "{name}");
        }
        assert!(!served(list, "gitlab.com/umbrella/any"));
        for list in ["acme", "acme/shop,,", "*", "*/*", "acme/sh op", "acme/shop;umbrella/*"] {
            assert_eq!(with(list).unwrap_err().variable, env_vars::COORD_REPOSITORIES, "{list}");
        }
        let on = |api: &'static str| {
            repositories(&move |name| match name {
                env_vars::COORD_REPOSITORIES => Some("acme/*".to_owned()),
                env_vars::GITHUB_API_URL => Some(api.to_owned()),
                _ => None,
            })
        };
        let listed = on("https://git.example.com/api/v3").unwrap().unwrap();
        assert!(listed.takes_in(&RepoId::parse("https://git.example.com/acme/shop").unwrap()));
        assert_eq!(on("http://example.com").unwrap_err().variable, env_vars::GITHUB_API_URL);
    }

    #[test]
    fn a_short_secret_is_an_error() {
        let with = |bytes: usize| long_secret(&move |_| Some("s".repeat(bytes)), env_vars::CRON_SECRET);
        assert_eq!(with(31).unwrap_err().variable, env_vars::CRON_SECRET);
        assert!(with(32).unwrap().is_some());
        assert!(long_secret(&|_| None, env_vars::CRON_SECRET).unwrap().is_none());
    }

    #[test]
    fn an_unset_secret_is_no_secret() {
        for value in ["", "  ", "undefined", "NULL"] {
            assert!(
                secret(&|_| Some(value.to_owned()), env_vars::CRON_SECRET).is_none(),
                "{value:?}"
            );
        }
        assert!(secret(&|_| Some("s".to_owned()), env_vars::CRON_SECRET).is_some());
    }
}
