//! Patterns of KEYS and SCAN.

/// Whether `text` matches `pattern`: `*`, `?`, `[abc]`, `[^a-c]`, and `\` before a literal byte.
pub(super) fn matches(mut pattern: &[u8], mut text: &[u8]) -> bool {
    // Where to resume when the guessed length of the newest `*` was wrong. Older stars need no second guess.
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
            _ => text
                .split_first()
                .and_then(|(byte, rest)| Some((one(pattern, *byte)?, rest))),
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

/// The rest of `pattern` after its first item, if that matches `byte`.
fn one(pattern: &[u8], byte: u8) -> Option<&[u8]> {
    match pattern {
        [b'?', rest @ ..] => Some(rest),
        [b'\\', literal, rest @ ..] => (*literal == byte).then_some(rest),
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
                    [b']', rest @ ..] => break (is_found != is_inverted).then_some(rest),
                    [] => break (is_found != is_inverted).then_some(rest),
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
        [literal, rest @ ..] => (*literal == byte).then_some(rest),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

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
            assert_eq!(
                matches(pattern.as_bytes(), text.as_bytes()),
                expected,
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn many_stars_cost_no_exponential_time() {
        let pattern = "a*".repeat(40) + "b";
        assert!(!matches(pattern.as_bytes(), "a".repeat(4000).as_bytes()));
    }
}
