use async_trait::async_trait;
use secrecy::SecretString;

use super::AuthError;
use coord_domain::{Member, RepoId};

/// Prefixes of GitHub tokens, one for each kind. `ghr_` is missing: a refresh token is no credential.
/// <https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github#githubs-token-formats>
const PREFIXES: [&str; 5] = ["ghp_", "gho_", "ghu_", "ghs_", "github_pat_"];
/// Minimum length after the prefix: 36 characters in the form of 2021, more in every other.
const MIN_BODY: usize = 36;
/// Maximum length of a token. Installation tokens have about 520 characters since 2026, and grow with their content.
const MAX_TOKEN: usize = 2_048;

/// Verifies GitHub tokens, and determines their rights.
#[async_trait]
pub trait TokenVerifier: Send + Sync + 'static {
    /// The holder of `token`, and the rights of that token in `repo`.
    ///
    /// # Errors
    /// [`AuthError::Unavailable`] when GitHub cannot give a verdict now.
    async fn verify(&self, token: &SecretString, repo: &RepoId) -> Result<Verdict, AuthError>;

    /// The rights of an anonymous caller in `repo`: to read, if it is public.
    ///
    /// # Errors
    /// [`AuthError::Unavailable`] when GitHub cannot give a verdict now.
    async fn verify_without_token(&self, repo: &RepoId) -> Result<Verdict, AuthError>;

    /// The address of the authorization server that issues tokens, if there is one.
    fn authorization_server(&self) -> Option<String> {
        None
    }
}

/// A verdict that may be remembered. [`AuthError::Unavailable`] must not be remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The token belongs to this person, who has these rights in the repository.
    Member(Member),
    /// The token is not valid (401). A sentence for the caller.
    Refused(String),
    /// The token is valid, but the repository does not exist or is hidden from it (403). A sentence for the caller.
    NoRight(String),
}

/// Whether `text` has the form of a GitHub token: any of the kinds above, or the 40 hex digits of the time before 2021.
pub fn is_github_token(text: &str) -> bool {
    let Some(body) = PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix)) else {
        return text.len() == 40 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    };
    // Dots and hyphens: newer installation tokens contain a JWT.
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    body.len() >= MIN_BODY && text.len() <= MAX_TOKEN && body.bytes().all(is_allowed)
}

/// Whether `token` has the form in which GitHub issues tokens. A classic one must have its checksum. For a fine-grained
/// one, or one with a JWT, the form suffices. Anybody can make up such a token, but most made-up tokens are not
/// well-formed.
/// <https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/>
pub fn is_well_formed(token: &str) -> bool {
    let is_alphanumeric = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if let Some(body) = token.strip_prefix("github_pat_") {
        let parts = body.split_once('_');
        return parts.is_some_and(|(id, secret)| {
            (id.len(), secret.len()) == (22, 59) && is_alphanumeric(id) && is_alphanumeric(secret)
        });
    }
    let Some(body) = PREFIXES.iter().find_map(|prefix| token.strip_prefix(prefix)) else {
        return false;
    };
    if token.starts_with("ghs_") && body.split('.').count() == 3 {
        return true;
    }
    body.len() == 36 && is_alphanumeric(body) && body[30..] == checksum(&body[..30])
}

/// The checksum at the end of a classic token: CRC-32 of the 30 characters before it, in base 62.
fn checksum(random: &str) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let sum = crc32fast::hash(random.as_bytes());
    let digits = (0..6)
        .rev()
        .map(|position| DIGITS[(sum / 62_u32.pow(position) % 62) as usize]);
    digits.map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_up_token_lacks_the_checksum_of_a_real_one() {
        // The example of a revoked token that is found in descriptions of the checksum.
        let real = ["ghp_zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ", "0mLq17"].concat();
        assert!(is_well_formed(&real));
        let fine_grained = format!("github_pat_{}_{}", "a".repeat(22), "b".repeat(59));
        assert!(is_well_formed(&fine_grained));
        assert!(is_well_formed("ghs_123_eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln"));
        for made_up in [
            real.replace("0mLq17", "0mLq18"),
            real.replace('z', "Z"),
            format!("ghp_{:0>36}", 7),
            format!("ghp_{:0>40}", 7),
            "0123456789abcdef0123456789abcdef01234567".to_owned(),
            fine_grained.replace("_b", "_"),
            format!("ghp_{}é", "a".repeat(34)),
        ] {
            assert!(!is_well_formed(&made_up), "{made_up}");
        }
    }

    #[test]
    fn each_kind_of_token_is_recognized() {
        let body = "a1B2c3D4e5".repeat(4);
        for prefix in ["ghp_", "gho_", "ghu_", "ghs_", "github_pat_"] {
            assert!(is_github_token(&format!("{prefix}{}", &body[..36])), "{prefix}");
            assert!(is_github_token(&format!("{prefix}{}", body.repeat(6))), "{prefix}");
        }
        let fine_grained = format!("github_pat_{}_{}", &body[..22], body.repeat(2).get(..59).unwrap());
        assert!(is_github_token(&fine_grained));
        let jwt = format!("ghs_123456_{0}.{0}-_{0}.{0}", body.repeat(3));
        assert!(is_github_token(&jwt), "{}", jwt.len());
        assert!(is_github_token("0123456789abcdef0123456789abcdef01234567"));
    }

    #[test]
    fn a_token_without_the_form_of_github_is_not_taken_for_one() {
        let body = "a".repeat(36);
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
        for text in [
            String::new(),
            jwt.to_owned(),
            "ghp_".to_owned(),
            format!("ghr_{body}"),
            format!("GHP_{body}"),
            format!("ghx_{body}"),
            format!(" ghp_{body}"),
            format!("ghp_{body} "),
            format!("ghp_{body}\n"),
            format!("ghp_{body}\r\nx-evil: 1"),
            format!("ghp_{body}é"),
            format!("ghp_{body}\u{7f}"),
            format!("ghp_{body}/../x"),
            format!("ghp_{}", &body[1..]),
            format!("ghp_{}", "a".repeat(MAX_TOKEN)),
            "A".repeat(40),
            "g".repeat(40),
            "a".repeat(39),
            "a".repeat(41),
        ] {
            assert!(!is_github_token(&text), "{text:?}");
        }
    }
}
