//! Settings from the environment: one struct for each concern, one constant for each variable.

use secrecy::SecretString;

use crate::domain::NeighborPolicy;
use coord_graph::update::Limits;

/// Every environment variable that Coord reads, besides `RUST_LOG`.
pub mod env_vars {
    /// HS256 secret of the JWTs that name callers. At most one of this and the next two is set; none: nobody can be verified.
    pub const COORD_JWT_SECRET: &str = "COORD_JWT_SECRET";
    /// Public key of those JWTs in PEM: RSA (RS256), EC P-256 (ES256) or Ed25519 (EdDSA); newlines may be written as `\n`.
    pub const COORD_JWT_PUBLIC_KEY: &str = "COORD_JWT_PUBLIC_KEY";
    /// https address of the key set (JWKS) of who makes those JWTs.
    pub const COORD_JWT_JWKS_URL: &str = "COORD_JWT_JWKS_URL";
    /// What `iss` of those JWTs must be. Required with a public key or a key set; unset beside a secret, `iss` is not looked at.
    pub const COORD_JWT_ISSUER: &str = "COORD_JWT_ISSUER";
    /// What `aud` of those JWTs must be or hold. Default `coord`.
    pub const COORD_JWT_AUDIENCE: &str = "COORD_JWT_AUDIENCE";
    /// `1`: the graph of a public repository may be read without a credential.
    pub const COORD_PUBLIC_GRAPH: &str = "COORD_PUBLIC_GRAPH";
    /// Seconds after which the head of a branch on GitHub is asked for again, 1 to 3,600. Default 10.
    pub const COORD_HEAD_TTL_SECONDS: &str = "COORD_HEAD_TTL_SECONDS";
    /// Seconds that a head may be old for a claim to write while GitHub cannot be asked; from the number above to 3,600.
    /// Default 60.
    pub const COORD_HEAD_MAX_AGE_SECONDS: &str = "COORD_HEAD_MAX_AGE_SECONDS";
    /// Questions a minute of one holder in one repository, 1 to 60,000; 0 is no limit. Default 300. A third of it may come
    /// at once.
    pub const COORD_LIMIT_HOLDER_PER_MINUTE: &str = "COORD_LIMIT_HOLDER_PER_MINUTE";
    /// The same for all agents and credentials of one person together. Default five times the number above.
    pub const COORD_LIMIT_PERSON_PER_MINUTE: &str = "COORD_LIMIT_PERSON_PER_MINUTE";
    /// The same for all holders of a repository together. Default 6,000.
    pub const COORD_LIMIT_REPOSITORY_PER_MINUTE: &str = "COORD_LIMIT_REPOSITORY_PER_MINUTE";
    /// Secret that GitHub signs its webhook deliveries with. Unset: no delivery is taken.
    pub const GITHUB_WEBHOOK_SECRET: &str = "GITHUB_WEBHOOK_SECRET";
    /// Seconds that a lock is held unless it is renewed, 1 to 86,400. Default 300.
    pub const COORD_LOCK_TTL_SECONDS: &str = "COORD_LOCK_TTL_SECONDS";
    /// `block` (default) or `warn`: what a written neighbour means for someone who wants to write.
    pub const COORD_NEIGHBOR_POLICY: &str = "COORD_NEIGHBOR_POLICY";
    /// Most bytes of code that one graph takes in, at least 1. Default 4 GiB. Files past it are `over_limit`.
    pub const COORD_GRAPH_MAX_BYTES: &str = "COORD_GRAPH_MAX_BYTES";
    /// Most files of code that one graph takes in, at least 1. Default 500,000. Files past it are `over_limit`.
    pub const COORD_GRAPH_MAX_FILES: &str = "COORD_GRAPH_MAX_FILES";
    /// Most imports that one graph takes in, at least 1. Default 1,000,000. Files past it are `over_limit`.
    pub const COORD_GRAPH_MAX_IMPORTS: &str = "COORD_GRAPH_MAX_IMPORTS";
    /// Largest file that is read for its imports, in bytes, at least 1. Default 4 MiB. Larger ones are `too_large`.
    pub const COORD_GRAPH_MAX_FILE_BYTES: &str = "COORD_GRAPH_MAX_FILE_BYTES";
    /// Origins of pages on other sites that may ask, with commas: `https://coord.example.com,http://localhost:5173`. Unset: none.
    pub const COORD_CORS_ORIGINS: &str = "COORD_CORS_ORIGINS";
    /// Secret that the cron sends as a bearer token. Unset: the sweep refuses to run.
    pub const CRON_SECRET: &str = "CRON_SECRET";
    /// Where GitHub's API is: `https://api.github.com` (default), or `https://HOST/api/v3` of a GitHub Enterprise Server.
    pub const GITHUB_API_URL: &str = "GITHUB_API_URL";
    /// Token that the service reads repositories with.
    pub const GITHUB_TOKEN: &str = "GITHUB_TOKEN";
    /// Repositories on GitHub that are served: `OWNER/NAME` and `OWNER/*`, with commas. Unset: all that the service can read.
    pub const COORD_REPOSITORIES: &str = "COORD_REPOSITORIES";
    /// `repo` or `public_repo`: the scope that OAuth tokens and classic personal tokens of callers must have. Unset: any.
    pub const COORD_GITHUB_SCOPE: &str = "COORD_GITHUB_SCOPE";
    /// Id of the GitHub App that the service reads repositories as; goes before the token.
    pub const GITHUB_APP_ID: &str = "GITHUB_APP_ID";
    /// Its RSA private key in PEM; newlines may be written as `\n`.
    pub const GITHUB_APP_PRIVATE_KEY: &str = "GITHUB_APP_PRIVATE_KEY";
    /// Upstash REST address.
    pub const UPSTASH_REDIS_REST_URL: &str = "UPSTASH_REDIS_REST_URL";
    /// Upstash REST token.
    pub const UPSTASH_REDIS_REST_TOKEN: &str = "UPSTASH_REDIS_REST_TOKEN";
    /// The same address, as Vercel's marketplace integration names it.
    pub const KV_REST_API_URL: &str = "KV_REST_API_URL";
    /// The same token, as Vercel's marketplace integration names it.
    pub const KV_REST_API_TOKEN: &str = "KV_REST_API_TOKEN";
    /// Address of any Redis or Valkey: `redis://` or `rediss://`.
    pub const REDIS_URL: &str = "REDIS_URL";
}

/// A setting that cannot be used: which variable, and what it takes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable} {problem}")]
pub struct ConfigError {
    /// The variable.
    pub variable: &'static str,
    /// What is wrong with it.
    pub problem: String,
}

/// Reads variables; in tests, a table.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The value of `name`. Empty, and what a template leaves behind when it has nothing to put there (`undefined`, `null`),
/// count as unset: an unset variable must lock the door, not open it.
pub fn value_of(environment: Environment<'_>, name: &str) -> Option<String> {
    let value = environment(name)?.trim().to_owned();
    let is_set = !value.is_empty()
        && !["undefined", "null"]
            .iter()
            .any(|word| value.eq_ignore_ascii_case(word));
    is_set.then_some(value)
}

/// The process's own environment.
pub fn process_environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// How locks behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockConfig {
    /// Seconds that a lock is held unless it is renewed.
    pub ttl_seconds: u32,
    /// What a written neighbour means.
    pub neighbor_policy: NeighborPolicy,
}

impl Default for LockConfig {
    fn default() -> Self {
        LockConfig {
            ttl_seconds: 300,
            neighbor_policy: NeighborPolicy::Block,
        }
    }
}

impl LockConfig {
    /// Longest time that a lock may be held without renewal: a day.
    pub const MAX_TTL_SECONDS: u32 = 86_400;

    /// # Errors
    /// When a variable is set to something that it does not take.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let mut config = LockConfig::default();
        if let Some(text) = value_of(environment, env_vars::COORD_LOCK_TTL_SECONDS) {
            let seconds = text
                .parse()
                .ok()
                .filter(|seconds| (1..=Self::MAX_TTL_SECONDS).contains(seconds));
            config.ttl_seconds = seconds.ok_or(ConfigError {
                variable: env_vars::COORD_LOCK_TTL_SECONDS,
                problem: format!("must be a number of seconds from 1 to {}", Self::MAX_TTL_SECONDS),
            })?;
        }
        config.neighbor_policy = match value_of(environment, env_vars::COORD_NEIGHBOR_POLICY).as_deref() {
            None | Some("block") => NeighborPolicy::Block,
            Some("warn") => NeighborPolicy::Warn,
            Some(_) => {
                return Err(ConfigError {
                    variable: env_vars::COORD_NEIGHBOR_POLICY,
                    problem: "must be block or warn".to_owned(),
                });
            }
        };
        Ok(config)
    }
}

/// Whether `COORD_PUBLIC_GRAPH` says so.
///
/// # Errors
/// When it is set to something else than `1` or `0`.
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

/// What one graph may take.
///
/// # Errors
/// When a variable is set to something that it does not take.
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

/// The secret in variable `name`, if it is set.
pub fn secret(environment: Environment<'_>, name: &str) -> Option<SecretString> {
    value_of(environment, name).map(SecretString::from)
}

/// Fewest bytes of a secret that others could guess at, as SHA-256 has.
pub const LEAST_SECRET_BYTES: usize = 32;

/// The secret in variable `name`, if it is set.
///
/// # Errors
/// When it is shorter than [`LEAST_SECRET_BYTES`].
pub fn long_secret(environment: Environment<'_>, name: &'static str) -> Result<Option<SecretString>, ConfigError> {
    match value_of(environment, name) {
        Some(value) if value.len() < LEAST_SECRET_BYTES => Err(ConfigError {
            variable: name,
            problem: format!("must have at least {LEAST_SECRET_BYTES} bytes; make one with: openssl rand -hex 32"),
        }),
        value => Ok(value.map(SecretString::from)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock_config(ttl: &str, policy: &str) -> Result<LockConfig, ConfigError> {
        LockConfig::from_env(&|name| match name {
            env_vars::COORD_LOCK_TTL_SECONDS => Some(ttl.to_owned()),
            env_vars::COORD_NEIGHBOR_POLICY => Some(policy.to_owned()),
            _ => None,
        })
    }

    #[test]
    fn what_is_not_set_has_its_default() {
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
