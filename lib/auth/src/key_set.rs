use std::sync::Arc;

use jsonwebtoken::Algorithm;
use serde::Deserialize;
use serde_json::Value;

use super::verification_key::{Jwk, VerificationKey};

/// The keys of an issuer (JWKS, RFC 7517) that can verify signatures.
#[derive(Clone, Debug, Default)]
pub(super) struct KeySet(Vec<(Option<String>, Arc<VerificationKey>)>);

/// Why a set has no key for a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingKey {
    /// No key has this `kid`; without a `kid`, no key has this algorithm. The issuer may have a new one.
    Unknown,
    /// The key of this `kid` verifies another algorithm.
    OtherAlgorithm,
    /// Several keys fit.
    Ambiguous,
}

impl KeySet {
    /// The usable keys of the set in `json`. Other keys (encryption, a shared secret, another curve, too short,
    /// malformed) are skipped, because an issuer may have keys for other purposes.
    ///
    /// # Errors
    /// When it is not a key set; with the problem.
    pub(super) fn parse(json: &[u8]) -> Result<Self, &'static str> {
        #[derive(Deserialize)]
        struct Jwks {
            keys: Vec<Value>,
        }
        let set: Jwks = serde_json::from_slice(json).map_err(|_| "the response is not a key set in JSON")?;
        let keys = set.keys.into_iter().filter_map(|value| {
            let jwk: Jwk = serde_json::from_value(value).ok()?;
            let key = VerificationKey::from_jwk(&jwk)?;
            Some((jwk.kid, Arc::new(key)))
        });
        Ok(KeySet(keys.collect()))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The one key for a token with this header. Its algorithm is `algorithm`.
    pub(super) fn find(&self, algorithm: Algorithm, kid: Option<&str>) -> Result<Arc<VerificationKey>, MissingKey> {
        let keys_with_kid = || {
            self.0
                .iter()
                .filter(|(key_id, _)| kid.is_none() || key_id.as_deref() == kid)
                .map(|(_, key)| key)
        };
        let mut candidates = keys_with_kid().filter(|key| key.algorithm == algorithm);
        match (candidates.next(), candidates.next()) {
            (Some(key), None) => Ok(Arc::clone(key)),
            (Some(_), Some(_)) => Err(MissingKey::Ambiguous),
            (None, _) if kid.is_some() && keys_with_kid().next().is_some() => Err(MissingKey::OtherAlgorithm),
            (None, _) => Err(MissingKey::Unknown),
        }
    }
}
