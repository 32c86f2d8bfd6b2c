use hmac::{Hmac, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

/// Whether `signature`, the value of `X-Hub-Signature-256`, is the signature of `body` with `secret`. The comparison
/// takes constant time. An empty secret and the older `sha1=` are never accepted.
///
/// <https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries>
pub fn is_signed(secret: &SecretString, body: &[u8], signature: Option<&str>) -> bool {
    let digits = signature.and_then(|signature| signature.strip_prefix("sha256="));
    let Some(signature) = digits.and_then(decode) else {
        return false;
    };
    let secret = secret.expose_secret().as_bytes();
    if secret.is_empty() {
        return false;
    }
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else {
        return false;
    };
    mac.update(body);
    mac.verify_slice(&signature).is_ok()
}

/// The bytes of 64 hex digits, in lower case as GitHub writes them.
fn decode(digits: &str) -> Option<[u8; 32]> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; 32];
    if digits.len() != 64 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example in GitHub's documentation.
    const SECRET: &str = "It's a Secret to Everybody";
    const BODY: &[u8] = b"Hello, World!";
    const DIGITS: &str = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    fn is_signed_with(secret: &str, body: &[u8], signature: Option<&str>) -> bool {
        is_signed(&SecretString::from(secret.to_owned()), body, signature)
    }

    #[test]
    fn the_documented_example_is_signed() {
        assert!(is_signed_with(SECRET, BODY, Some(&format!("sha256={DIGITS}"))));
    }

    #[test]
    fn a_delivery_that_is_unsigned_or_signed_by_another_key_is_refused() {
        let right = format!("sha256={DIGITS}");
        assert!(!is_signed_with(SECRET, b"Hello, World?", Some(&right)));
        assert!(!is_signed_with(SECRET, b"", Some(&right)));
        assert!(!is_signed_with("It's a secret to everybody", BODY, Some(&right)));
        assert!(!is_signed_with(SECRET, BODY, None));
        // HMAC is defined for the empty key too.
        let by_nothing = "sha256=b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad";
        assert!(!is_signed_with("", b"", Some(by_nothing)));
        for wrong in [
            String::new(),
            "sha256=".to_owned(),
            DIGITS.to_owned(),
            format!("sha256={}", &DIGITS[..63]),
            format!("sha256={}", &DIGITS[..62]),
            format!("sha256={DIGITS}0"),
            format!("sha256={}", DIGITS.to_uppercase()),
            format!("SHA256={DIGITS}"),
            format!("sha256= {DIGITS}"),
            format!("sha256={DIGITS}\n"),
            format!("sha256={DIGITS},sha256={DIGITS}"),
            format!("sha256={}", DIGITS.replace('7', "g")),
            format!("sha256={}8", &DIGITS[..63]),
            format!("sha256={}", "é".repeat(32)),
            format!("sha256={}", "0".repeat(64)),
            format!("sha1={DIGITS}"),
            // The documented example with SHA-1.
            "sha1=7d38cdd689735b008b3c702edd92eea23791c5f6".to_owned(),
        ] {
            assert!(!is_signed_with(SECRET, BODY, Some(&wrong)), "{wrong}");
        }
    }
}
