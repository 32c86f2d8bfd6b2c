//! What deliveries are held to.

use secrecy::SecretString;

/// What deliveries are held to.
#[derive(Debug)]
pub struct Webhook {
    /// What GitHub signs them with.
    pub(crate) secret: SecretString,
    /// The host whose repositories count.
    pub(crate) host: String,
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
