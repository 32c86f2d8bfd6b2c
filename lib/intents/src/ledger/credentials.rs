use std::borrow::Cow;
use std::sync::OnceLock;

use regex::Regex;

/// The text in place of a credential.
pub(super) const BLANK: &str = "[redacted]";

/// One line of the list of `docs/reference/ledger.md`.
struct Rule {
    /// In lower case. The rule is compiled only for texts that contain one of these: each call of a hook is a process,
    /// and compiling a rule takes longer than everything else that the process does here.
    hints: &'static [&'static str],
    /// The first and the last group are kept. Character classes are ASCII: Unicode tables cost time, and a binary may
    /// lack them. A negated class is `(?u-i:...)`, which needs no tables, because it does not fold case.
    pattern: &'static str,
    /// The crate `regex` takes linear time for every text.
    compiled: OnceLock<Regex>,
}

const fn rule(hints: &'static [&'static str], pattern: &'static str) -> Rule {
    Rule {
        hints,
        pattern,
        compiled: OnceLock::new(),
    }
}

/// Words in the names of secrets. The last pattern repeats them with separators.
const WORDS: &[&str] = &["passw", "passphrase", "secret", "token", "key", "credential"];

static RULES: [Rule; 8] = [
    rule(
        &["private key-----"],
        "()-----BEGIN [A-Z ]*PRIVATE KEY-----(?su:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|$)()",
    ),
    rule(
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"],
        r"()\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,})()",
    ),
    rule(
        &[
            "sk-", "_live_", "_test_", "akia", "asia", "xox", "aiza", "npm_", "pypi-", "hf_",
        ],
        r"()\b(?:sk-[\w-]{20,}|(?:sk|rk|pk)_(?:live|test)_\w{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|xox[a-z]-[\w-]{10,}|AIza[\w-]{30,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{16,}|hf_[A-Za-z0-9]{20,})()",
    ),
    rule(
        &["eyj", "private+key+"],
        r"()\b(?:eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*|PRIVATE\+KEY\+[!-~]+)()",
    ),
    rule(&["bearer"], r"(?i)(\bbearer\s+)[\w+/=.~-]{16,}()"),
    rule(
        &["authorization"],
        r#"(?i)(\bauthorization"?\s*[:=]\s*(?:\w+\s+)?)(?u-i:[^ \t\r\n"'])+()"#,
    ),
    // The password of an address.
    rule(&["://"], r"(\w://(?u-i:[^ \t\r\n/:@])*:)(?u-i:[^ \t\r\n/@])+(@)"),
    // NAME=value, name: value, --name value.
    rule(
        WORDS,
        r#"(?xi)( (?: (?:password|passwd|passphrase|secret|token|(?:api|access|private)[_-]?key|credentials?) (?:[_-][\w-]*)? ["']?\s*[=:]
            | --?[\w-]*(?:password|passwd|passphrase|secret|token|key) ) \s*["']? ) (?u-i:[^\ \t\r\n"'&;,])+ ()"#,
    ),
];

/// Blanks text that looks like a credential. A second pass changes nothing.
pub fn blank_credentials(text: &str) -> Cow<'_, str> {
    let lower = text.to_ascii_lowercase();
    let mut text = Cow::Borrowed(text);
    for rule in &RULES {
        if rule.hints.iter().any(|hint| lower.contains(hint)) {
            let compile = || Regex::new(&format!("(?-u){}", rule.pattern)).expect("a rule");
            let compiled = rule.compiled.get_or_init(compile);
            if compiled.is_match(&text) {
                text = Cow::Owned(compiled.replace_all(&text, format!("${{1}}{BLANK}${{2}}")).into_owned());
            }
        }
    }
    text
}

/// Whether a member of this name holds a credential, in any usual spelling (`apiKey`, `API_KEY`, `api-key`).
pub(super) fn is_name_of_credential(name: &str) -> bool {
    const NAMES: [&str; 13] = [
        "password",
        "passwd",
        "passphrase",
        "secret",
        "token",
        "apikey",
        "accesskey",
        "secretkey",
        "privatekey",
        "credential",
        "credentials",
        "authorization",
        "cookie",
    ];
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    let name: String = letters.flat_map(char::to_lowercase).collect();
    NAMES.iter().any(|credential| name.ends_with(credential))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_blanked_once_and_for_all() {
        for (text, blanked) in [
            ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "[redacted]"),
            (
                "push with github_pat_11ABCDEFG0123456789_abc now",
                "push with [redacted] now",
            ),
            ("key sk-ant-api03-abcdefghijklmnop_1234", "key [redacted]"),
            ("AKIAIOSFODNN7EXAMPLE", "[redacted]"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "[redacted]"),
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb",
                "a\n[redacted]\nb",
            ),
            ("-----BEGIN PRIVATE KEY-----\nMIIE", "[redacted]"),
            ("PRIVATE+KEY+coord+c74f20a3+AYEKFALVFGyN", "[redacted]"),
            (
                "-H 'Authorization: Basic dXNlcjpwdw=='",
                "-H 'Authorization: Basic [redacted]'",
            ),
            ("bearer abcdefghijklmnop", "bearer [redacted]"),
            (
                "https://ada:hunter2@example.com/x",
                "https://ada:[redacted]@example.com/x",
            ),
            ("export DB_PASSWORD=hunter2; run", "export DB_PASSWORD=[redacted]; run"),
            ("{\"apiKey\": \"k-1\"}", "{\"apiKey\": \"[redacted]\"}"),
            ("login --password hunter2 -v", "login --password [redacted] -v"),
            ("AWS_SECRET_ACCESS_KEY=abc/def", "AWS_SECRET_ACCESS_KEY=[redacted]"),
        ] {
            assert_eq!(blank_credentials(text), blanked);
            assert_eq!(blank_credentials(blanked), blanked, "again");
        }
    }

    #[test]
    fn ordinary_texts_stay() {
        for text in [
            "Budget Exhausted: max_tokens: 400000, consumed_tokens: 400001",
            "Scope Violation: 018f6a1c-7a52-7cc3-9a61-0d2b7c3e4f10 is not authorized to edit 'src/token.rs'. Request scope expansion.",
            "sha256:5ca890bf2046006ced7f9a4f4e9449d7beb77fc868bba102d34c34fa715078e7",
            "git push https://github.com/acme/shop.git",
            "Basic understanding of a task-based design",
        ] {
            assert_eq!(blank_credentials(text), text);
        }
    }
}
