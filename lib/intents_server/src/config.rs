//! Settings of intents and of their ledger.

use std::str::FromStr;

use coord_intents::ledger::SigningKey;

use coord_settings::environment::{ConfigError, Environment, value_of};
use coord_settings::variables::env_vars;

/// Whether a claim to write must cite an intent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IntentPolicy {
    /// A claim that cites none is refused only for files that an intent owns.
    #[default]
    Optional,
    Required,
}

/// How long a selected intent stays selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handshake {
    /// Until the agent's session ends: it outlives prompts.
    #[default]
    Session,
    /// Until the next prompt.
    Prompt,
}

/// Settings of intents and of their ledger. It has no `Debug`: the key is a secret.
#[derive(Clone)]
pub struct IntentConfig {
    pub policy: IntentPolicy,
    pub handshake: Handshake,
    /// The most files of a branch that the scope of an intent may cover.
    pub max_files: usize,
    /// Seconds of inactivity after which an intent stops owning its files.
    pub idle_seconds: u64,
    /// How many identical tool calls in a row are allowed; 0 is unlimited.
    pub breaker_calls: u32,
    /// The most lines of a ledger.
    pub ledger_max_lines: usize,
    /// Signs checkpoints.
    pub ledger_key: Option<SigningKey>,
}

impl Default for IntentConfig {
    fn default() -> Self {
        IntentConfig {
            policy: IntentPolicy::default(),
            handshake: Handshake::default(),
            max_files: 100,
            idle_seconds: 28_800,
            breaker_calls: 3,
            ledger_max_lines: 20_000,
            ledger_key: None,
        }
    }
}

impl IntentConfig {
    /// The smallest limit on the lines of a ledger.
    const MIN_LEDGER_LINES: usize = 1_000;

    /// # Errors
    /// When a variable has an invalid value.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let default = IntentConfig::default();
        let policies = [
            ("optional", IntentPolicy::Optional),
            ("required", IntentPolicy::Required),
        ];
        let handshakes = [("session", Handshake::Session), ("prompt", Handshake::Prompt)];
        Ok(IntentConfig {
            policy: read_choice(environment, env_vars::COORD_INTENT_POLICY, policies)?,
            handshake: read_choice(environment, env_vars::COORD_HANDSHAKE, handshakes)?,
            max_files: read_number(environment, env_vars::COORD_INTENT_MAX_FILES, 1, default.max_files)?,
            idle_seconds: read_number(
                environment,
                env_vars::COORD_INTENT_IDLE_SECONDS,
                1,
                default.idle_seconds,
            )?,
            breaker_calls: read_number(environment, env_vars::COORD_BREAKER_CALLS, 0, default.breaker_calls)?,
            ledger_max_lines: read_number(
                environment,
                env_vars::COORD_LEDGER_MAX_LINES,
                Self::MIN_LEDGER_LINES,
                default.ledger_max_lines,
            )?,
            ledger_key: read_ledger_key(environment)?,
        })
    }
}

fn read_choice<T: Copy + Default>(
    environment: Environment<'_>,
    variable: &'static str,
    choices: [(&str, T); 2],
) -> Result<T, ConfigError> {
    let Some(text) = value_of(environment, variable) else {
        return Ok(T::default());
    };
    let choice = choices.iter().find(|(name, _)| *name == text);
    choice.map(|(_, value)| *value).ok_or_else(|| ConfigError {
        variable,
        problem: format!("must be {} or {}", choices[0].0, choices[1].0),
    })
}

fn read_number<T: FromStr + PartialOrd + std::fmt::Display>(
    environment: Environment<'_>,
    variable: &'static str,
    minimum: T,
    default: T,
) -> Result<T, ConfigError> {
    match value_of(environment, variable) {
        None => Ok(default),
        Some(text) => match text.parse() {
            Ok(number) if number >= minimum => Ok(number),
            _ => Err(ConfigError {
                variable,
                problem: format!("must be a whole number, at least {minimum}"),
            }),
        },
    }
}

/// The error never contains the value, which may be a mistyped key.
fn read_ledger_key(environment: Environment<'_>) -> Result<Option<SigningKey>, ConfigError> {
    let text = value_of(environment, env_vars::COORD_LEDGER_KEY);
    let key = text.map(|text| SigningKey::parse(&text)).transpose();
    key.map_err(|error| ConfigError {
        variable: env_vars::COORD_LEDGER_KEY,
        problem: format!("is not a private key: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "PRIVATE+KEY+coord.example+3f447896+AQcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH";

    fn with(variable: &'static str, value: &str) -> Result<IntentConfig, ConfigError> {
        IntentConfig::from_env(&|name| (name == variable).then(|| value.to_owned()))
    }

    #[test]
    fn an_unset_setting_has_its_default() {
        let config = IntentConfig::from_env(&|_| None).ok().unwrap();
        assert_eq!(config.policy, IntentPolicy::Optional);
        assert_eq!(config.handshake, Handshake::Session);
        assert_eq!((config.max_files, config.idle_seconds), (100, 28_800));
        assert_eq!((config.breaker_calls, config.ledger_max_lines), (3, 20_000));
        assert!(config.ledger_key.is_none());
    }

    #[test]
    fn each_variable_is_read() {
        let read = |variable, value| with(variable, value).ok().unwrap();
        assert_eq!(
            read(env_vars::COORD_INTENT_POLICY, "required").policy,
            IntentPolicy::Required
        );
        assert_eq!(read(env_vars::COORD_HANDSHAKE, "prompt").handshake, Handshake::Prompt);
        assert_eq!(read(env_vars::COORD_INTENT_MAX_FILES, "7").max_files, 7);
        assert_eq!(read(env_vars::COORD_INTENT_IDLE_SECONDS, "60").idle_seconds, 60);
        assert_eq!(read(env_vars::COORD_BREAKER_CALLS, "0").breaker_calls, 0);
        assert_eq!(read(env_vars::COORD_LEDGER_MAX_LINES, "1000").ledger_max_lines, 1000);
        let key = read(env_vars::COORD_LEDGER_KEY, KEY).ledger_key.unwrap();
        let public = "coord.example+3f447896+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs";
        assert_eq!(key.verifying_key().text(), public);
    }

    #[test]
    fn a_value_that_is_not_taken_is_an_error_that_names_the_variable() {
        for (variable, value) in [
            (env_vars::COORD_INTENT_POLICY, "Required"),
            (env_vars::COORD_HANDSHAKE, "turn"),
            (env_vars::COORD_INTENT_MAX_FILES, "0"),
            (env_vars::COORD_INTENT_IDLE_SECONDS, "8h"),
            (env_vars::COORD_BREAKER_CALLS, "-1"),
            (env_vars::COORD_LEDGER_MAX_LINES, "999"),
            (env_vars::COORD_LEDGER_KEY, "a key"),
        ] {
            assert_eq!(with(variable, value).err().unwrap().variable, variable, "{value}");
        }
    }

    #[test]
    fn no_part_of_a_wrong_key_is_in_its_error() {
        let wrong = KEY.replace("example", "sample");
        let error = with(env_vars::COORD_LEDGER_KEY, &wrong).err().unwrap().to_string();
        assert!(
            KEY.split('+')
                .all(|part| !error.contains(part) || part == "PRIVATE" || part == "KEY"),
            "{error}"
        );
    }
}
