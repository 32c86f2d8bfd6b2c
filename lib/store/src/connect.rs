//! The store that the environment names.

use std::sync::Arc;

use secrecy::SecretString;

use super::redis::RedisStore;
use super::upstash::UpstashStore;
use super::{Store, StoreError};
use coord_settings::environment::value_of;
use coord_settings::variables::env_vars;

/// URL and token of an Upstash database, in the names of Upstash and of Vercel's integration.
const UPSTASH_PAIRS: [(&str, &str); 2] = [
    (env_vars::UPSTASH_REDIS_REST_URL, env_vars::UPSTASH_REDIS_REST_TOKEN),
    (env_vars::KV_REST_API_URL, env_vars::KV_REST_API_TOKEN),
];

/// Whether any variable of a store is set, even if the other one of its pair is missing.
pub fn is_configured(get: impl Fn(&str) -> Option<String>) -> bool {
    let pairs = UPSTASH_PAIRS.iter().flat_map(|(url, token)| [*url, *token]);
    pairs
        .chain([env_vars::REDIS_URL])
        .any(|name| value_of(&get, name).is_some())
}

/// The store that the variables name, which `get` reads: `UPSTASH_REDIS_REST_URL` and `UPSTASH_REDIS_REST_TOKEN`, else
/// `KV_REST_API_URL` and `KV_REST_API_TOKEN`, else `REDIS_URL`. Half a pair counts as unset. So does a value that is
/// empty, `undefined` or `null`, which deployment scripts write for missing variables.
///
/// Does not connect yet: if the store is down, the first request fails.
///
/// # Errors
/// [`StoreError::NotConfigured`] when none is set, naming the variables, or when a URL is invalid.
pub fn from_env(get: impl Fn(&str) -> Option<String>) -> Result<Arc<dyn Store>, StoreError> {
    let get = |name: &str| value_of(&get, name);
    let mut missing = Vec::new();
    for (url, token) in UPSTASH_PAIRS {
        match (get(url), get(token)) {
            (Some(address), Some(secret)) => {
                let store = UpstashStore::new(&address, SecretString::from(secret))
                    .map_err(|error| with_variable(url, error))?;
                return Ok(Arc::new(store));
            }
            (Some(_), None) => missing.push(token),
            (None, Some(_)) => missing.push(url),
            (None, None) => {}
        }
    }
    if let Some(address) = get(env_vars::REDIS_URL) {
        return Ok(Arc::new(
            RedisStore::connect(&address).map_err(|error| with_variable(env_vars::REDIS_URL, error))?,
        ));
    }
    Err(StoreError::NotConfigured(not_configured(&missing)))
}

fn with_variable(variable: &str, error: StoreError) -> StoreError {
    match error {
        StoreError::NotConfigured(text) => StoreError::NotConfigured(format!("{variable}: {text}")),
        other => other,
    }
}

fn not_configured(missing: &[&str]) -> String {
    let mut text = String::from(
        "no store is configured: set UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN, \
         or KV_REST_API_URL and KV_REST_API_TOKEN, or REDIS_URL",
    );
    for name in missing {
        text.push_str(&format!("; {name} is missing, although the other of its pair is set"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<String, String> {
        let get = |name: &str| {
            variables
                .iter()
                .find(|(variable, _)| *variable == name)
                .map(|(_, value)| (*value).to_owned())
        };
        from_env(get).map(|store| store.describe()).map_err(|error| {
            assert!(matches!(error, StoreError::NotConfigured(_)), "{error:?}");
            error.to_string()
        })
    }

    const UPSTASH: (&str, &str) = ("UPSTASH_REDIS_REST_URL", "https://one.upstash.io");
    const UPSTASH_TOKEN: (&str, &str) = ("UPSTASH_REDIS_REST_TOKEN", "hunter2");
    const KV: (&str, &str) = ("KV_REST_API_URL", "https://two.upstash.io");
    const KV_TOKEN: (&str, &str) = ("KV_REST_API_TOKEN", "hunter2");
    const REDIS: (&str, &str) = ("REDIS_URL", "redis://:hunter2@h/1");

    #[test]
    fn the_first_whole_set_of_variables_wins() {
        let one = Ok("Upstash at https://one.upstash.io".to_owned());
        let two = Ok("Upstash at https://two.upstash.io".to_owned());
        let three = Ok("Redis at redis://h:6379/1".to_owned());
        assert_eq!(from(&[UPSTASH, UPSTASH_TOKEN, KV, KV_TOKEN, REDIS]), one);
        assert_eq!(from(&[KV, KV_TOKEN, REDIS]), two);
        assert_eq!(from(&[REDIS]), three);
        assert_eq!(from(&[UPSTASH, KV, KV_TOKEN, REDIS]), two);
        assert_eq!(from(&[UPSTASH_TOKEN, KV, REDIS]), three);
        for unset in ["", "  ", "undefined", "NULL"] {
            assert_eq!(
                from(&[UPSTASH, ("UPSTASH_REDIS_REST_TOKEN", unset), REDIS]),
                three,
                "{unset:?}"
            );
        }
    }

    #[test]
    fn half_a_pair_is_a_setting_and_an_empty_value_is_none() {
        let with = |name: &'static str, value: &'static str| {
            is_configured(|wanted| (wanted == name).then(|| value.to_owned()))
        };
        for name in [
            "UPSTASH_REDIS_REST_URL",
            "UPSTASH_REDIS_REST_TOKEN",
            "KV_REST_API_TOKEN",
            "REDIS_URL",
        ] {
            assert!(with(name, "x"), "{name}");
            assert!(!with(name, "undefined"), "{name}");
        }
    }

    #[test]
    fn without_a_store_the_sentence_names_every_variable_and_the_missing_half() {
        let text = from(&[]).unwrap_err();
        for name in [
            "UPSTASH_REDIS_REST_URL",
            "UPSTASH_REDIS_REST_TOKEN",
            "KV_REST_API_URL",
            "KV_REST_API_TOKEN",
            "REDIS_URL",
        ] {
            assert!(text.contains(name), "{text}");
        }
        assert!(!text.contains("missing"), "{text}");
        let text = from(&[UPSTASH, KV_TOKEN]).unwrap_err();
        assert!(text.contains("UPSTASH_REDIS_REST_TOKEN is missing"), "{text}");
        assert!(text.contains("KV_REST_API_URL is missing"), "{text}");
    }

    #[test]
    fn a_url_that_cannot_be_used_is_named_by_its_variable_and_never_shown() {
        let text = from(&[
            ("UPSTASH_REDIS_REST_URL", "http://one.upstash.io"),
            UPSTASH_TOKEN,
            REDIS,
        ])
        .unwrap_err();
        assert!(
            text.starts_with("UPSTASH_REDIS_REST_URL: ") && text.contains("https://"),
            "{text}"
        );
        let text = from(&[("REDIS_URL", "hunter2://x")]).unwrap_err();
        assert!(text.starts_with("REDIS_URL: ") && !text.contains("hunter2"), "{text}");
    }
}
