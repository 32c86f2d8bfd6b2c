//! The environment, and how its variables are read.

use std::ops::RangeInclusive;
use std::str::FromStr;

use secrecy::SecretString;

/// A setting with an invalid value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable} {problem}")]
pub struct ConfigError {
    pub variable: &'static str,
    pub problem: String,
}

/// The error for a secret that is shorter than [`MIN_SECRET_BYTES`].
const TOO_SHORT: &str = "must have at least 32 bytes; make one with: openssl rand -hex 32";
const _: () = assert!(MIN_SECRET_BYTES == 32);

impl ConfigError {
    pub fn new(variable: &'static str, problem: impl Into<String>) -> Self {
        let problem = problem.into();
        ConfigError { variable, problem }
    }

    /// Whether it is a secret that is shorter than [`MIN_SECRET_BYTES`].
    pub fn is_short_secret(&self) -> bool {
        self.problem == TOO_SHORT
    }
}

/// Returns the value of a variable. Tests pass a table.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The value of `name`. Empty values and leftovers of templates (`undefined`, `null`) count as unset: an unset secret
/// must close access, not open it.
pub fn value_of(environment: Environment<'_>, name: &str) -> Option<String> {
    let value = environment(name)?.trim().to_owned();
    let is_set = !value.is_empty()
        && !["undefined", "null"]
            .iter()
            .any(|word| value.eq_ignore_ascii_case(word));
    is_set.then_some(value)
}

/// The value of `name` in this process's environment.
pub fn process_environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The secret in variable `name`, if set.
pub fn secret(environment: Environment<'_>, name: &str) -> Option<SecretString> {
    value_of(environment, name).map(SecretString::from)
}

/// Minimum bytes of a secret, so that nobody can guess it; a SHA-256 digest has as many.
pub const MIN_SECRET_BYTES: usize = 32;

/// The secret in variable `name`, if set.
///
/// # Errors
/// When it is shorter than [`MIN_SECRET_BYTES`].
pub fn long_secret(environment: Environment<'_>, name: &'static str) -> Result<Option<SecretString>, ConfigError> {
    match value_of(environment, name) {
        Some(value) if value.len() < MIN_SECRET_BYTES => Err(ConfigError::new(name, TOO_SHORT)),
        value => Ok(value.map(SecretString::from)),
    }
}

/// The number of seconds in `variable`, within `bounds`; `default` if it is unset.
///
/// # Errors
/// When it has another value.
pub fn seconds_within(
    environment: Environment<'_>,
    variable: &'static str,
    bounds: RangeInclusive<u32>,
    default: u32,
) -> Result<u32, ConfigError> {
    let problem = format!("must be a whole number from {} to {}", bounds.start(), bounds.end());
    number_within(environment, variable, bounds, default, &problem)
}

/// The number in `variable`, within `bounds`; `default` if it is unset.
///
/// # Errors
/// When it has another value: then `problem` is the error.
pub(crate) fn number_within<T: FromStr + PartialOrd>(
    environment: Environment<'_>,
    variable: &'static str,
    bounds: RangeInclusive<T>,
    default: T,
    problem: &str,
) -> Result<T, ConfigError> {
    let Some(text) = value_of(environment, variable) else {
        return Ok(default);
    };
    let number = text.parse::<T>().ok().filter(|number| bounds.contains(number));
    number.ok_or_else(|| ConfigError::new(variable, problem))
}

/// The beginning of a value, without control characters, to quote in an error.
pub(crate) fn printable_start(value: &str) -> String {
    let characters = value.chars().filter(|character| !character.is_control());
    characters.take(80).collect()
}
