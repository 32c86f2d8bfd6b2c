use secrecy::SecretString;

/// The settings that verify deliveries.
#[derive(Debug)]
pub struct Webhook {
    /// The secret with which GitHub signs deliveries.
    pub secret: SecretString,
    /// The host of the served repositories.
    pub host: String,
}

impl Webhook {
    /// Deliveries about repositories of `host`, signed with `secret`.
    pub fn new(secret: SecretString, host: &str) -> Self {
        Webhook {
            secret,
            host: host.to_owned(),
        }
    }
}
