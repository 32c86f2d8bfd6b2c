//! Accepted credentials: tokens, and JWTs of an app.

use std::process::Command;

use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde_json::{Value, json};

use super::objects::{Reply, refused, seconds};
use super::state::{APP, APP_PUBLIC_KEY, ReceivedRequest, Shared, Visibility};

impl Shared {
    /// The answer to one who may not see the repository.
    pub(super) fn kept_out(&self, seen: &ReceivedRequest) -> Option<Reply> {
        let behavior = self.behavior.lock().unwrap();
        if let Some(known) = behavior.knows(seen) {
            let is_public = matches!(behavior.visibility, Visibility::Public) && !behavior.is_internal;
            return match known {
                Some(person) if is_public || person.role.is_some() => None,
                Some(_) => Some(refused(404, "Not Found")),
                None => Some(refused(401, "Bad credentials")),
            };
        }
        let token = match &behavior.visibility {
            Visibility::Public => return None,
            Visibility::Token(token) => token.clone(),
            Visibility::App => format!("ghs_{}", behavior.tokens),
        };
        match &seen.authorization {
            None => Some(refused(404, "Not Found")),
            Some(shown) if *shown == format!("Bearer {token}") => None,
            Some(_) => Some(refused(401, "Bad credentials")),
        }
    }

    /// Whether a JWT of the app was shown, by GitHub's rules.
    pub(super) fn is_app(&self, seen: &ReceivedRequest) -> bool {
        let Some(jwt) = seen
            .authorization
            .as_deref()
            .and_then(|shown| shown.strip_prefix("Bearer "))
        else {
            return false;
        };
        let mut rules = Validation::new(Algorithm::RS256);
        rules.set_required_spec_claims(&["exp", "iss"]);
        rules.set_issuer(&[APP]);
        rules.leeway = 0;
        let key = DecodingKey::from_rsa_pem(APP_PUBLIC_KEY.as_bytes()).unwrap();
        let Ok(token) = jsonwebtoken::decode::<Value>(jwt, &key, &rules) else {
            return false;
        };
        let (iat, exp) = (
            token.claims["iat"].as_u64().unwrap(),
            token.claims["exp"].as_u64().unwrap(),
        );
        iat <= seconds() && exp - iat <= 600
    }

    pub(super) fn installation(&self, seen: &ReceivedRequest) -> Reply {
        if !self.is_app(seen) {
            return refused(401, "A JSON web token could not be decoded");
        }
        if !matches!(self.behavior.lock().unwrap().visibility, Visibility::App) {
            return refused(404, "Not Found");
        }
        Reply::json(200, &self.installation_of_app())
    }

    pub(super) fn access_token(&self, seen: &ReceivedRequest) -> Reply {
        if !self.is_app(seen) {
            return refused(401, "A JSON web token could not be decoded");
        }
        let mut behavior = self.behavior.lock().unwrap();
        behavior.tokens += 1;
        let expires_at = seconds() as i64 + behavior.token_seconds.unwrap_or(3_600);
        let expires_at = utc(expires_at);
        let token = json!({
            "token": format!("ghs_{}", behavior.tokens),
            "expires_at": expires_at,
            "permissions": {"contents": "read", "metadata": "read"},
            "repository_selection": "selected",
        });
        Reply::json(201, &token)
    }
}

/// A time as GitHub writes it.
fn utc(seconds: i64) -> String {
    let printed = Command::new("date")
        .args(["-u", "-d", &format!("@{seconds}"), "+%Y-%m-%dT%H:%M:%SZ"])
        .output()
        .unwrap();
    String::from_utf8(printed.stdout).unwrap().trim().to_owned()
}
