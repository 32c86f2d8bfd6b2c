//! Signed notes and their keys, as specified by C2SP signed-note, with Ed25519.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer};

use super::hash::ChainHash;

/// The algorithm byte before a key.
const ED25519: u8 = 1;
const PRIVATE: &str = "PRIVATE+KEY+";
/// Prefix of a line with a signature.
pub(super) const SIGNATURE: &str = "— ";

/// Why a text is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    #[error("a key has the form NAME+HASH+BASE64, and a private one PRIVATE+KEY+ before it")]
    Form,
    /// The hash in the text is not the hash of the name and the key.
    #[error("the key does not match its name: the hash in its text differs")]
    Hash,
    /// The name is empty or has spaces or `+`.
    #[error("the name of a key has no spaces and no '+', and is not empty")]
    Name,
}

/// The public key of a checkpoint, with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey {
    name: String,
    key: ed25519_dalek::VerifyingKey,
}

/// The private key. It has no `Debug` and no `Display`, so nothing prints it.
#[derive(Clone)]
pub struct SigningKey {
    name: String,
    key: ed25519_dalek::SigningKey,
}

impl VerifyingKey {
    /// Reads `NAME+HASH+BASE64`.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        let (name, hash, key) = split_key(text)?;
        let key = ed25519_dalek::VerifyingKey::from_bytes(&key).map_err(|_| InvalidKey::Form)?;
        let key = VerifyingKey { name, key };
        if hex(key.id()) == hash {
            Ok(key)
        } else {
            Err(InvalidKey::Hash)
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text, `NAME+HASH+BASE64`.
    pub fn text(&self) -> String {
        format!("{}+{}+{}", self.name, hex(self.id()), encode(self.key.as_bytes()))
    }

    /// The first 4 bytes of the hash of name and key.
    fn id(&self) -> [u8; 4] {
        let hash = ChainHash::of(&[self.name.as_bytes(), b"\n", &[ED25519], self.key.as_bytes()]);
        *hash.bytes().first_chunk().expect("32 bytes")
    }

    /// Whether the line `— NAME BASE64` is a valid signature of `text`; `None` if it is not by this key.
    pub(super) fn check(&self, text: &str, line: &str) -> Option<bool> {
        let (name, signature) = line.strip_prefix(SIGNATURE)?.split_once(' ')?;
        let signature = STANDARD.decode(signature).ok()?;
        let (id, signature) = signature.split_first_chunk::<4>()?;
        if name != self.name || *id != self.id() {
            return None;
        }
        let signature = Signature::from_slice(signature).ok();
        Some(signature.is_some_and(|signature| self.key.verify_strict(text.as_bytes(), &signature).is_ok()))
    }
}

impl SigningKey {
    /// Reads `PRIVATE+KEY+NAME+HASH+BASE64`.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        let (name, hash, key) = split_key(text.strip_prefix(PRIVATE).ok_or(InvalidKey::Form)?)?;
        let key = SigningKey {
            name,
            key: ed25519_dalek::SigningKey::from_bytes(&key),
        };
        if hex(key.verifying_key().id()) == hash {
            Ok(key)
        } else {
            Err(InvalidKey::Hash)
        }
    }

    pub fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey {
            name: self.name.clone(),
            key: self.key.verifying_key(),
        }
    }

    /// The line of a signature over `text`. Both end with a newline.
    pub(super) fn sign(&self, text: &str) -> String {
        let signature = self.key.sign(text.as_bytes()).to_bytes();
        let bytes = [&self.verifying_key().id()[..], &signature].concat();
        format!("{SIGNATURE}{} {}\n", self.name, STANDARD.encode(bytes))
    }
}

fn check_name(name: &str) -> Result<String, InvalidKey> {
    let is_allowed = |letter: char| !letter.is_whitespace() && !letter.is_control() && letter != '+';
    if !name.is_empty() && name.chars().all(is_allowed) {
        Ok(name.to_owned())
    } else {
        Err(InvalidKey::Name)
    }
}

/// Splits `NAME+HASH+BASE64`, and decodes the key.
fn split_key(text: &str) -> Result<(String, String, [u8; 32]), InvalidKey> {
    let mut parts = text.splitn(3, '+');
    let mut part = || parts.next().ok_or(InvalidKey::Form);
    let (name, hash, key) = (check_name(part()?)?, part()?.to_owned(), part()?);
    let key = STANDARD.decode(key).map_err(|_| InvalidKey::Form)?;
    let key = key.strip_prefix(&[ED25519]).and_then(|key| key.try_into().ok());
    Ok((name, hash, key.ok_or(InvalidKey::Form)?))
}

fn encode(key: &[u8; 32]) -> String {
    STANDARD.encode([&[ED25519], &key[..]].concat())
}

fn hex(id: [u8; 4]) -> String {
    format!("{:08x}", u32::from_be_bytes(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example from the documentation of the Go package `golang.org/x/mod/sumdb/note`, with its private key.
    // rule: ledger#keys
    #[test]
    fn keys_and_signatures_are_those_of_other_implementations() {
        let secret = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
        let public = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
        let text =
            "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
        let line = "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
        let key = SigningKey::parse(secret).unwrap();
        assert_eq!(key.verifying_key().text(), public);
        assert_eq!(VerifyingKey::parse(public), Ok(key.verifying_key()));
        assert_eq!(key.sign(text), line);
        assert_eq!(key.verifying_key().check(text, line.trim_end()), Some(true));
        assert_eq!(key.verifying_key().check("other\n", line.trim_end()), Some(false));
    }

    #[test]
    fn texts_that_are_no_keys_are_refused() {
        let secret = "PRIVATE+KEY+coord.dev/shop+6ecf81d8+AQcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH";
        let public = SigningKey::parse(secret).unwrap().verifying_key().text();
        for (text, error) in [
            (public.replace("shop", "shot"), InvalidKey::Hash),
            (public.replacen('+', "", 1), InvalidKey::Form),
            (secret.to_owned(), InvalidKey::Form),
            (public[..public.len() - 4].to_owned(), InvalidKey::Form),
            (public.replace("coord.dev/", "coord dev"), InvalidKey::Name),
            (public.replace("coord.dev/", "coord\ndev"), InvalidKey::Name),
            (String::new(), InvalidKey::Name),
        ] {
            assert_eq!(VerifyingKey::parse(&text), Err(error), "{text}");
        }
        for (text, error) in [
            (public, InvalidKey::Form),
            (secret.replace("shop", "shot"), InvalidKey::Hash),
            (secret.replace("+AQ", "+Ag"), InvalidKey::Form),
        ] {
            assert_eq!(SigningKey::parse(&text).err(), Some(error), "{text}");
        }
    }
}
