//! Literal properties of the objects in a script, read without running it: `{ a: { b: "c" } }` has `b` within `a`.

/// Deepest nesting of objects.
const MAX_DEPTH: usize = 32;

/// `name: "value"` in an object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Property<'t> {
    /// The names of the properties around the object, outermost first; empty for an object that is not the value of a
    /// property.
    pub(crate) within: Vec<&'t str>,
    pub(crate) name: String,
    pub(crate) value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'t> {
    Text(&'t str),
    Name(&'t str),
    Sign(u8),
}

/// All properties of `text` whose values are string literals alone.
pub(crate) fn literal_properties(text: &str) -> Vec<Property<'_>> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match (token, tokens.get(at + 1), tokens.get(at + 2)) {
            (Token::Name(name) | Token::Text(name), Some(Token::Sign(b':')), Some(Token::Sign(b'{')))
                if open.len() < MAX_DEPTH =>
            {
                open.push(name);
                at += 2;
            }
            (Token::Name(name) | Token::Text(name), Some(Token::Sign(b':')), Some(Token::Text(value)))
                if matches!(tokens.get(at + 3), Some(Token::Sign(b',' | b'}'))) =>
            {
                found.push(Property {
                    within: open.iter().copied().filter(|name| !name.is_empty()).collect(),
                    name: (*name).to_owned(),
                    value: (*value).to_owned(),
                });
                at += 2;
            }
            (Token::Sign(b'{'), ..) => open.push(""),
            (Token::Sign(b'}'), ..) => drop(open.pop()),
            _ => {}
        }
        at += 1;
        if open.len() > MAX_DEPTH {
            break;
        }
    }
    found
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        let rest = &bytes[at..];
        let length = match byte {
            b'/' if rest.starts_with(b"//") => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            b'/' if rest.starts_with(b"/*") => {
                memchr::memmem::find(&rest[2..], b"*/").map_or(rest.len(), |end| end + 4)
            }
            b'"' | b'\'' | b'`' => {
                let end = string_end(rest, byte);
                let content = text.get(at + 1..at + end - 1).unwrap_or_default();
                let has_expression = byte == b'`' && content.contains("${");
                let is_plain = !has_expression && !content.contains(['\\', '\n']);
                tokens.push(if is_plain {
                    Token::Text(content)
                } else {
                    Token::Sign(byte)
                });
                end
            }
            byte if is_word(byte) => {
                let end = rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
                tokens.push(Token::Name(text.get(at..at + end).unwrap_or_default()));
                end
            }
            byte => {
                if !byte.is_ascii_whitespace() {
                    tokens.push(Token::Sign(byte));
                }
                1
            }
        };
        at += length;
    }
    tokens
}

/// Length of the string at the start of `text`, quotes included.
fn string_end(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        at += match byte {
            b'\\' => 2,
            byte if *byte == quote => return at + 1,
            _ => 1,
        };
    }
    text.len()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<String> {
        let properties = literal_properties(text).into_iter();
        properties
            .map(|one| format!("{} {}={}", one.within.join("."), one.name, one.value))
            .collect()
    }

    #[test]
    fn properties_are_found_with_the_objects_that_they_are_within() {
        assert_eq!(
            found("f({ a: { 'b': \"c\", d: 'e' + g, h: i('j') }, k: 'l' }) // m: 'n'\n/* { o: 'p' } */"),
            ["a b=c", " k=l"]
        );
        assert_eq!(found("{ a: 'it\\'s', b: `c${d}`, e: `f` }"), [" e=f"]);
        assert_eq!(found("{ a: 'not closed"), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in r#"[{}:,'"`/*\\a é$\n]{0,60}"#) {
            literal_properties(&text);
        }
    }
}
