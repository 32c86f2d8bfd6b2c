use super::issuer_keys::{IssuerKeys, KeySetUrl, KeyTiming};
use super::jwt::JwtVerifier;
use coord_domain::Invalid;
use coord_settings::environment::{ConfigError, Environment, long_secret, value_of};
use coord_settings::variables::env_vars::{
    COORD_JWT_AUDIENCE, COORD_JWT_ISSUER, COORD_JWT_JWKS_URL, COORD_JWT_PUBLIC_KEY, COORD_JWT_SECRET,
};

impl JwtVerifier {
    /// The verifier that `COORD_JWT_*` configure; `None` if no key is set.
    ///
    /// # Errors
    /// When two keys are set, one is invalid, or a public key is set without an issuer.
    pub fn from_env(environment: Environment<'_>) -> Result<Option<Self>, ConfigError> {
        let keys: Vec<(&'static str, String)> = [COORD_JWT_SECRET, COORD_JWT_PUBLIC_KEY, COORD_JWT_JWKS_URL]
            .into_iter()
            .filter_map(|variable| value_of(environment, variable).map(|value| (variable, value)))
            .collect();
        let (variable, value) = match keys.as_slice() {
            [] => return Ok(None),
            [(variable, value)] => (*variable, value),
            [(first, _), rest @ ..] => {
                let rest: Vec<&str> = rest.iter().map(|(variable, _)| *variable).collect();
                let problem = format!("cannot be set together with {}: set one of them", rest.join(" and "));
                return Err(ConfigError::new(first, problem));
            }
        };
        let config_error = |Invalid(problem)| ConfigError { variable, problem };
        let issuer = value_of(environment, COORD_JWT_ISSUER);
        // A private key often signs for many purposes, and a key set for many tenants. An empty issuer in a template
        // must not admit them all.
        let required_issuer = || {
            issuer.clone().ok_or_else(|| {
                let problem = format!("must be set together with {variable}, to the iss of the tokens");
                ConfigError::new(COORD_JWT_ISSUER, problem)
            })
        };
        let mut verifier = match variable {
            COORD_JWT_SECRET => {
                if value.starts_with("-----BEGIN") {
                    let problem = format!(
                        "holds a key in PEM instead of a secret; a public key belongs in {COORD_JWT_PUBLIC_KEY}"
                    );
                    return Err(ConfigError { variable, problem });
                }
                let secret = long_secret(environment, COORD_JWT_SECRET)?.unwrap_or_default();
                JwtVerifier::hs256(&secret)
            }
            COORD_JWT_PUBLIC_KEY => {
                required_issuer()?;
                JwtVerifier::public_key(value).map_err(config_error)?
            }
            _ => {
                let issuer = required_issuer()?;
                let keys = KeySetUrl::parse(value).and_then(|url| IssuerKeys::new(url, KeyTiming::default()));
                JwtVerifier::key_set(keys.map_err(config_error)?, &issuer)
            }
        };
        if let Some(issuer) = &issuer {
            verifier = verifier.with_issuer(issuer);
        }
        if let Some(audience) = value_of(environment, COORD_JWT_AUDIENCE) {
            verifier = verifier.with_audience(&audience);
        }
        Ok(Some(verifier))
    }
}
