//! Patterns of KEYS.

use super::allowance::Allowance;
use super::failure::Failure;

/// Whether `text` matches `pattern`: `*`, `?`, `[abc]`, `[^a-c]`, and `\` before a literal byte. The time grows with the
/// product of the two lengths, so that it is taken from `allowance`.
pub(super) fn matches(mut pattern: &[u8], mut text: &[u8], allowance: &Allowance) -> Result<bool, Failure> {
    // Where to resume when the guessed length of the newest `*` was wrong. Older stars need no second guess.
    let mut retry: Option<(&[u8], &[u8])> = None;
    loop {
        allowance.step(1)?;
        let step = match pattern {
            [b'*', rest @ ..] => {
                retry = Some((rest, text));
                pattern = rest;
                continue;
            }
            [] if text.is_empty() => return Ok(true),
            [] => None,
            _ => match text.split_first() {
                Some((byte, text_rest)) => {
                    let (is_match, pattern_rest) = one(pattern, *byte);
                    allowance.step(pattern.len() - pattern_rest.len())?;
                    is_match.then_some((pattern_rest, text_rest))
                }
                None => None,
            },
        };
        match (step, retry) {
            (Some((pattern_rest, text_rest)), _) => (pattern, text) = (pattern_rest, text_rest),
            (None, Some((star_pattern, [_, star_text @ ..]))) => {
                retry = Some((star_pattern, star_text));
                (pattern, text) = (star_pattern, star_text);
            }
            (None, _) => return Ok(false),
        }
    }
}

/// Whether the first item of `pattern` matches `byte`, and the rest of `pattern` after it.
fn one(pattern: &[u8], byte: u8) -> (bool, &[u8]) {
    match pattern {
        [b'?', rest @ ..] => (true, rest),
        [b'\\', literal, rest @ ..] => (*literal == byte, rest),
        [b'[', rest @ ..] => {
            let (is_inverted, mut rest) = match rest {
                [b'^', rest @ ..] => (true, rest),
                _ => (false, rest),
            };
            let mut is_found = false;
            loop {
                rest = match rest {
                    [b'\\', literal, rest @ ..] => {
                        is_found |= *literal == byte;
                        rest
                    }
                    [b']', rest @ ..] => break (is_found != is_inverted, rest),
                    [] => break (is_found != is_inverted, rest),
                    [from, b'-', to, rest @ ..] => {
                        is_found |= (*from.min(to)..=*from.max(to)).contains(&byte);
                        rest
                    }
                    [literal, rest @ ..] => {
                        is_found |= *literal == byte;
                        rest
                    }
                };
            }
        }
        [literal, rest @ ..] => (*literal == byte, rest),
        [] => (false, pattern),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn is_match(pattern: &str, text: &str) -> bool {
        matches(pattern.as_bytes(), text.as_bytes(), &Allowance::unbounded()).expect("no bound")
    }

    #[test]
    fn patterns_match_as_in_redis() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("a*c", "abbbc", true),
            ("a*c", "abbbd", false),
            ("*a*b*", "xxaxxbxx", true),
            ("h?llo", "hello", true),
            ("h?llo", "hllo", false),
            ("h[ae]llo", "hallo", true),
            ("h[^e]llo", "hello", false),
            ("h[a-c]llo", "hbllo", true),
            ("h[c-a]llo", "hbllo", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("[\\]]", "]", true),
            ("coord:locks:{*}", "coord:locks:{a/b}", true),
            ("", "a", false),
        ] {
            assert_eq!(is_match(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_cost_no_exponential_time() {
        let pattern = "a*".repeat(40) + "b";
        assert!(!is_match(&pattern, &"a".repeat(4000)));
    }

    #[test]
    fn a_slow_pattern_ends_with_its_time() {
        let text = "a".repeat(120_000);
        let class = format!("*[{}]", "b".repeat(60_000));
        for pattern in [format!("*{}b", "a".repeat(60_000)), class, "*".repeat(1 << 20)] {
            let ended = Instant::now() + Duration::from_millis(20);
            let result = matches(pattern.as_bytes(), text.as_bytes(), &Allowance::until(ended, 0));
            let over = ended.elapsed();
            assert!(result.is_err() || pattern.ends_with('*'), "{}", pattern.len());
            assert!(over < Duration::from_millis(500), "{over:?}");
        }
    }
}
