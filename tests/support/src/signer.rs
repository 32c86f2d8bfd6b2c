//! Tokens of every kind, signed by another library than the one that verifies them.

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm,
    Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PSS_SHA256, RsaEncoding,
};
use aws_lc_rs::{hmac, rsa};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

/// A key that signs.
pub enum Signer {
    Secret(Vec<u8>),
    Rsa(rsa::KeyPair),
    Ec(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl Signer {
    pub fn rsa() -> Self {
        Signer::Rsa(rsa::KeyPair::generate(KeySize::Rsa2048).unwrap())
    }

    pub fn p256() -> Self {
        Self::ec(&ECDSA_P256_SHA256_FIXED_SIGNING)
    }

    pub fn p384() -> Self {
        Self::ec(&ECDSA_P384_SHA384_FIXED_SIGNING)
    }

    fn ec(algorithm: &'static EcdsaSigningAlgorithm) -> Self {
        Signer::Ec(EcdsaKeyPair::generate(algorithm).unwrap())
    }

    pub fn ed25519() -> Self {
        Signer::Ed25519(Ed25519KeyPair::generate().unwrap())
    }

    /// The algorithm that fits.
    pub fn algorithm(&self) -> &'static str {
        match self {
            Signer::Secret(_) => "HS256",
            Signer::Rsa(_) => "RS256",
            Signer::Ec(pair) if pair.public_key().as_ref().len() == 65 => "ES256",
            Signer::Ec(_) => "ES384",
            Signer::Ed25519(_) => "EdDSA",
        }
    }

    /// A token with the header and the claims as they are, signed as the header's `alg` says where this key can, else as
    /// [`Signer::algorithm`] says.
    pub fn token(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", part(header), part(claims));
        let signature = self.signature(header["alg"].as_str(), message.as_bytes());
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    /// The same with the usual header, and `kid` if there is one.
    pub fn sign(&self, kid: Option<&str>, claims: &Value) -> String {
        let mut header = json!({ "typ": "JWT", "alg": self.algorithm() });
        if let Some(kid) = kid {
            header["kid"] = kid.into();
        }
        self.token(&header, claims)
    }

    fn signature(&self, algorithm: Option<&str>, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Signer::Secret(secret) => {
                let digest = match algorithm {
                    Some("HS384") => hmac::HMAC_SHA384,
                    Some("HS512") => hmac::HMAC_SHA512,
                    _ => hmac::HMAC_SHA256,
                };
                hmac::sign(&hmac::Key::new(digest, secret), message).as_ref().to_vec()
            }
            Signer::Rsa(pair) => {
                let encoding: &'static dyn RsaEncoding = match algorithm {
                    Some("RS384") => &RSA_PKCS1_SHA384,
                    Some("PS256") => &RSA_PSS_SHA256,
                    _ => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(encoding, &random, message, &mut signature).unwrap();
                signature
            }
            Signer::Ec(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Signer::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }

    /// The public half in DER (SubjectPublicKeyInfo).
    pub fn public_der(&self) -> Vec<u8> {
        match self {
            Signer::Secret(_) => panic!("a secret has no public half"),
            Signer::Rsa(pair) => pair.public_key().as_der().unwrap().as_ref().to_vec(),
            Signer::Ec(pair) => pair.public_key().as_der().unwrap().as_ref().to_vec(),
            Signer::Ed25519(pair) => pair.public_key().as_der().unwrap().as_ref().to_vec(),
        }
    }

    /// The public half in PEM.
    pub fn public_pem(&self) -> String {
        pem("PUBLIC KEY", &self.public_der())
    }

    /// The public half for a key set.
    pub fn jwk(&self, kid: &str) -> Value {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        match self {
            Signer::Secret(secret) => json!({ "kty": "oct", "kid": kid, "k": text(secret) }),
            Signer::Rsa(pair) => {
                let (n, e) = modulus_and_exponent(pair.public_key().as_ref());
                json!({ "kty": "RSA", "kid": kid, "use": "sig", "n": text(n), "e": text(e) })
            }
            Signer::Ec(pair) => {
                let (x, y) = coordinates(pair.public_key().as_ref());
                let curve = if x.len() == 32 { "P-256" } else { "P-384" };
                json!({ "kty": "EC", "kid": kid, "use": "sig", "crv": curve, "x": text(x), "y": text(y) })
            }
            Signer::Ed25519(pair) => {
                json!({ "kty": "OKP", "kid": kid, "crv": "Ed25519", "x": text(pair.public_key().as_ref()) })
            }
        }
    }
}

/// `der` between the two lines of `label`.
pub fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> = text
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// Of a point that is not compressed: 4, x, y.
fn coordinates(point: &[u8]) -> (&[u8], &[u8]) {
    assert_eq!(point[0], 4);
    point[1..].split_at(point.len() / 2)
}

/// Of `RSAPublicKey` in DER: a sequence of two integers.
fn modulus_and_exponent(der: &[u8]) -> (&[u8], &[u8]) {
    let (sequence, _) = element(der);
    let (n, rest) = element(sequence);
    let (e, _) = element(rest);
    // A zero before the first bit keeps an integer from being negative.
    (n.strip_prefix(&[0]).unwrap_or(n), e)
}

/// Content of the first element, and the rest.
fn element(der: &[u8]) -> (&[u8], &[u8]) {
    let (length, start) = match der[1] {
        short @ 0..0x80 => (usize::from(short), 2),
        long => {
            let end = 2 + usize::from(long & 0x7f);
            let length = der[2..end]
                .iter()
                .fold(0, |length, byte| length << 8 | usize::from(*byte));
            (length, end)
        }
    };
    der[start..].split_at(length)
}
