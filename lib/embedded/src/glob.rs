//! Patterns of KEYS and SCAN.

/// Whether `text` matches `pattern`: `*`, `?`, `[abc]`, `[^a-c]`, and `\` before a literal byte. The time grows with
/// the product of both lengths.
pub(super) fn matches(mut pattern: &[u8], mut text: &[u8]) -> bool {
    // The position to resume at when the newest `*` has to match more bytes. No earlier `*` ever has to match more.
    let mut retry: Option<(&[u8], &[u8])> = None;
    loop {
        let step = match pattern {
            [b'*', rest @ ..] => {
                retry = Some((rest, text));
                pattern = rest;
                continue;
            }
            [] if text.is_empty() => return true,
            [] => None,
            _ => match text.split_first() {
                Some((byte, text_rest)) => {
                    let (is_match, pattern_rest) = match_item(pattern, *byte);
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
            (None, _) => return false,
        }
    }
}

/// Whether the first item of `pattern` matches `byte`, and the rest of `pattern` after it.
fn match_item(pattern: &[u8], byte: u8) -> (bool, &[u8]) {
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

    fn is_match(pattern: &str, text: &str) -> bool {
        matches(pattern.as_bytes(), text.as_bytes())
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
}
