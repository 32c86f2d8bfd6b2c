use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::VerifyingKey;
use jsonwebtoken::{Algorithm, DecodingKey};
use p256::elliptic_curve::sec1::ToEncodedPoint;
use rsa::pkcs1::DecodeRsaPublicKey;
use rsa::pkcs8::DecodePublicKey;
use rsa::traits::PublicKeyParts;
use rsa::{BigUint, RsaPublicKey};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use coord_domain::Invalid;

/// Minimum bits of an RSA modulus, RFC 7518, section 3.3. The maximum is [`RsaPublicKey::MAX_SIZE`].
const MIN_RSA_BITS: usize = 2048;

/// A key and its one algorithm. The algorithm follows from the kind of the key, never from a token. So a public key is
/// never used as a shared secret.
#[derive(Clone, Debug)]
pub(super) struct VerificationKey {
    pub(super) algorithm: Algorithm,
    pub(super) key: DecodingKey,
}

/// A public key of a key set, RFC 7517. Its other members are ignored, above all those with a URL to fetch from
/// (`x5u`).
#[derive(Deserialize)]
pub(super) struct Jwk {
    kty: String,
    pub(super) kid: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl VerificationKey {
    /// A shared secret: HS256.
    pub(super) fn secret(secret: &SecretString) -> Self {
        VerificationKey {
            algorithm: Algorithm::HS256,
            key: DecodingKey::from_secret(secret.expose_secret().as_bytes()),
        }
    }

    /// A public key in PEM: RSA (RS256), EC P-256 (ES256) or Ed25519 (EdDSA). Line breaks may be written as `\n`.
    ///
    /// # Errors
    /// When it is none of these. The error states the problem, to follow the name of the setting, but not the text.
    pub(super) fn from_pem(text: &str) -> Result<Self, Invalid> {
        let text = text.trim().replace("\\n", "\n").replace("\r\n", "\n");
        if text.contains("PRIVATE KEY") {
            let problem =
                "holds a private key, which only the issuer of the tokens may have; set its public key instead";
            return Err(Invalid(problem.to_owned()));
        }
        if let Ok(key) = RsaPublicKey::from_public_key_pem(&text).or_else(|_| RsaPublicKey::from_pkcs1_pem(&text)) {
            return Self::rsa(&key).ok_or_else(|| {
                Invalid(format!(
                    "is an RSA key of {} bits; at least {MIN_RSA_BITS} are needed",
                    key.n().bits()
                ))
            });
        }
        if let Ok(key) = p256::PublicKey::from_public_key_pem(&text) {
            return Ok(Self::p256(&key));
        }
        VerifyingKey::from_public_key_pem(&text)
            .ok()
            .and_then(|key| Self::ed25519(&key))
            .ok_or_else(|| {
                Invalid(format!(
                    "is not a supported public key in PEM (-----BEGIN PUBLIC KEY-----): RSA of {MIN_RSA_BITS} \
                     to {} bits, EC P-256 or Ed25519",
                    RsaPublicKey::MAX_SIZE
                ))
            })
    }

    /// The key of a key set, if it verifies signatures and its kind is supported.
    pub(super) fn from_jwk(jwk: &Jwk) -> Option<Self> {
        let is_for_signatures = jwk.usage.as_deref().is_none_or(|usage| usage == "sig")
            && jwk
                .key_ops
                .as_ref()
                .is_none_or(|operations| operations.iter().any(|operation| operation == "verify"));
        if !is_for_signatures {
            return None;
        }
        let (key, algorithm) = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("RSA", _) => {
                let (n, e) = (decode(&jwk.n)?, decode(&jwk.e)?);
                let key = RsaPublicKey::new(BigUint::from_bytes_be(&n), BigUint::from_bytes_be(&e)).ok()?;
                (Self::rsa(&key)?, "RS256")
            }
            ("EC", Some("P-256")) => {
                let (x, y) = (decode(&jwk.x)?, decode(&jwk.y)?);
                if (x.len(), y.len()) != (32, 32) {
                    return None;
                }
                // 4 means that both coordinates follow; `from_sec1_bytes` checks that they are a point of the curve.
                let point = [&[4][..], &x, &y].concat();
                (Self::p256(&p256::PublicKey::from_sec1_bytes(&point).ok()?), "ES256")
            }
            ("OKP", Some("Ed25519")) => {
                let x: [u8; 32] = decode(&jwk.x)?.try_into().ok()?;
                (Self::ed25519(&VerifyingKey::from_bytes(&x).ok()?)?, "EdDSA")
            }
            _ => return None,
        };
        // RFC 9864 calls EdDSA on this curve `Ed25519`.
        let is_same = |alg: &str| alg == algorithm || (algorithm == "EdDSA" && alg == "Ed25519");
        jwk.alg.as_deref().is_none_or(is_same).then_some(key)
    }

    fn rsa(key: &RsaPublicKey) -> Option<Self> {
        (key.n().bits() >= MIN_RSA_BITS).then(|| VerificationKey {
            algorithm: Algorithm::RS256,
            key: DecodingKey::from_rsa_raw_components(&key.n().to_bytes_be(), &key.e().to_bytes_be()),
        })
    }

    fn p256(key: &p256::PublicKey) -> Self {
        VerificationKey {
            algorithm: Algorithm::ES256,
            key: DecodingKey::from_ec_der(key.to_encoded_point(false).as_bytes()),
        }
    }

    /// `None` for the few points of small order: anyone could sign for them.
    fn ed25519(key: &VerifyingKey) -> Option<Self> {
        (!key.is_weak()).then(|| VerificationKey {
            algorithm: Algorithm::EdDSA,
            key: DecodingKey::from_ed_der(key.as_bytes()),
        })
    }
}

fn decode(member: &Option<String>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(member.as_deref()?).ok()
}
