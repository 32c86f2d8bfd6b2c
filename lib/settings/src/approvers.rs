//! The logins that act as persons.

use super::environment::{ConfigError, Environment, value_of};
use super::variables::env_vars;
use coord_domain::UserId;

/// Logins whose acts count as a person's. An empty list means everyone with the right to push.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approvers(Vec<String>);

impl Approvers {
    pub fn of<T: Into<String>>(logins: impl IntoIterator<Item = T>) -> Self {
        Approvers(logins.into_iter().map(Into::into).collect())
    }

    /// # Errors
    /// When the variable has an invalid value.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let text = value_of(environment, env_vars::COORD_APPROVERS).unwrap_or_default();
        let config_error = |problem: String| ConfigError::new(env_vars::COORD_APPROVERS, problem);
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let logins: Vec<String> = entries
            .map(|entry| UserId::parse(entry).map(|login| login.as_str().to_owned()))
            .collect::<Result<_, _>>()
            .map_err(|invalid| config_error(format!("must be logins, separated by commas: {invalid}")))?;
        if logins.is_empty() && !text.is_empty() {
            return Err(config_error("must be logins, separated by commas".to_owned()));
        }
        Ok(Approvers(logins))
    }

    pub fn logins(&self) -> &[String] {
        &self.0
    }

    /// Whether acts of `user` without an agent id count as a person's.
    pub fn includes(&self, user: &UserId) -> bool {
        self.0.is_empty() || self.lists(user)
    }

    /// Whether `user` is on the list.
    pub fn lists(&self, user: &UserId) -> bool {
        self.0.iter().any(|login| login == user.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(value: &str) -> Result<Approvers, ConfigError> {
        Approvers::from_env(&|name| (name == env_vars::COORD_APPROVERS).then(|| value.to_owned()))
    }

    #[test]
    fn approvers_are_the_logins_of_the_list() {
        let (ann, bob) = (UserId::parse("ann").unwrap(), UserId::parse("bob").unwrap());
        let unset = Approvers::from_env(&|_| None).unwrap();
        assert!(unset.includes(&ann) && !unset.lists(&ann));
        let approvers = with("ann, octo-app[bot],").unwrap();
        assert_eq!(approvers.logins(), ["ann", "octo-app[bot]"]);
        assert!(approvers.includes(&ann) && !approvers.includes(&bob));
        for wrong in ["ann bob", ","] {
            assert_eq!(with(wrong).unwrap_err().variable, env_vars::COORD_APPROVERS, "{wrong}");
        }
    }
}
