//! Literal properties of the objects in a script, read without running it: `{ a: { b: "c" } }` has `b` within `a`.
//!
//! A value is a string, a path that is computed from strings alone ([`path_expression`]), or a list of these.

mod path_expression;
mod token;

use token::{Token, tokens};

/// Deepest nesting of objects and lists.
const MAX_DEPTH: usize = 32;

/// `name: "value"` in an object, or one value of the list in `name: ["value", ...]`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Property<'t> {
    /// The names of the properties around the object, lists included, outermost first. Empty if the object is not the
    /// value of a property.
    pub(crate) within: Vec<&'t str>,
    pub(crate) name: String,
    pub(crate) value: String,
    /// Whether the value is a computed path and not a string.
    pub(crate) is_path: bool,
    /// A unique number of the object in the text.
    pub(crate) object: usize,
}

/// An open object or list, and the name of the property whose value it is, empty if there is none.
#[derive(Clone, Copy, Debug)]
struct OpenBracket<'t> {
    name: &'t str,
    is_list: bool,
    /// The number of its first token.
    start: usize,
}

/// All properties of `text` whose values are literal.
pub(crate) fn literal_properties(text: &str) -> Vec<Property<'_>> {
    let tokens = tokens(text);
    let mut properties = Vec::new();
    let mut open: Vec<OpenBracket<'_>> = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match (token, tokens.get(at + 1), tokens.get(at + 2)) {
            (
                Token::Name(name) | Token::Text(name),
                Some(Token::Punct(b':')),
                Some(Token::Punct(punct @ (b'{' | b'['))),
            ) if open.len() < MAX_DEPTH => {
                let is_list = *punct == b'[';
                let start = at + 2;
                open.push(OpenBracket { name, is_list, start });
                at += 2;
            }
            (Token::Name(name) | Token::Text(name), Some(Token::Punct(b':')), _) => {
                if let Some(value) = literal_value(&tokens, at + 2) {
                    at = value.end - 1;
                    properties.push(value.into_property(name, &open));
                }
            }
            (Token::Punct(punct @ (b'{' | b'[')), ..) => open.push(OpenBracket {
                name: "",
                is_list: *punct == b'[',
                start: at,
            }),
            (Token::Punct(b'}'), ..) => {
                // An unclosed list ends with the object around it.
                while open.pop().is_some_and(|bracket| bracket.is_list) {}
            }
            (Token::Punct(b']'), ..) => drop(open.pop_if(|bracket| bracket.is_list)),
            (Token::Name(_) | Token::Text(_), ..) => {
                if let Some((list, around)) = open.split_last()
                    && list.is_list
                    && !list.name.is_empty()
                    && matches!(tokens.get(at.wrapping_sub(1)), Some(Token::Punct(b'[' | b',')))
                    && let Some(value) = literal_value(&tokens, at)
                {
                    at = value.end - 1;
                    properties.push(value.into_property(list.name, around));
                }
            }
            _ => {}
        }
        at += 1;
        if open.len() > MAX_DEPTH {
            break;
        }
    }
    properties
}

/// A literal value, and the number of the token after it.
struct Value {
    text: String,
    is_path: bool,
    end: usize,
}

impl Value {
    /// The property `name` with this value, in the innermost object of `open`.
    fn into_property<'t>(self, name: &str, open: &[OpenBracket<'t>]) -> Property<'t> {
        let names = open.iter().map(|bracket| bracket.name);
        Property {
            within: names.filter(|name| !name.is_empty()).collect(),
            name: name.to_owned(),
            value: self.text,
            is_path: self.is_path,
            object: open.last().map_or(0, |innermost| innermost.start),
        }
    }
}

/// The literal value at `at`, unless it is only the beginning of a longer expression.
fn literal_value(tokens: &[Token<'_>], at: usize) -> Option<Value> {
    let (text, is_path, end) = match tokens.get(at)? {
        Token::Text(text) => ((*text).to_owned(), false, at + 1),
        Token::Name(_) => {
            let (path, end) = path_expression::read(tokens, at)?;
            (path, true, end)
        }
        Token::Punct(_) | Token::Operand => return None,
    };
    let is_whole = matches!(tokens.get(end), Some(Token::Punct(b',' | b'}' | b']')));
    is_whole.then_some(Value { text, is_path, end })
}

#[cfg(test)]
mod tests {
    use coord_scan::meter;
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
        assert_eq!(
            found("{ a: ['b', c, resolve('./d'), 'e' + f], g: [{ h: 'i' }, [ 'j' ]], k: 'l' } [ 'm' ]"),
            [" a=b", " a=./d", "g h=i", " k=l"]
        );
        assert_eq!(found("{ x: { a: ['b' }, d: 'e' }"), ["x a=b", " d=e"]);
        assert_eq!(found("{ a: 'not closed"), Vec::<String>::new());
    }

    #[test]
    fn quotes_in_a_regular_expression_or_in_a_template_open_no_string() {
        for before in [
            "a = text.replace(/[{}`/]/g, c => ({ '{': '&#123;', '`': '&#96;' })[c]);",
            "a = { b: (c) => /^a11y-'x/.test(c) };",
            "a = [b ? /\"/u : c, /[']/];",
            "a = (b) => { return /`/.test(b) };",
            "if (a) { b() }\n/'/.exec(c);",
            "a = b / c; d = (e) / f; g = h[0] / i['`'] / `j` / 2;",
            "a = `b ${c ? `it's ${{ d: 1 }.d}` : '`'} it's`;",
            "a = `b ${c('`')} it's`;",
            "// it's\na = /* ` */ 1;",
            "a = b'c;",
            "a = /[';",
        ] {
            let text = format!("{before}\nexport default {{ kit: {{ alias: {{ $ui: 'src/ui' }} }} }}");
            assert_eq!(
                found(&text).last().map(String::as_str),
                Some("kit.alias $ui=src/ui"),
                "{before}"
            );
        }
        assert_eq!(found("({ a: /b/, c: 'd', e: f / g, h: 'i' })"), [" c=d", " h=i"]);
    }

    #[test]
    fn hostile_text_is_read_in_linear_time() {
        for piece in [
            "/[",
            "(/",
            "'",
            "`${",
            "`${`",
            "}`",
            "{",
            "/*",
            "\\",
            "a:[",
            "a:resolve(",
            "a:a.",
            "a:join(b,",
            "[a(",
        ] {
            let text = piece.repeat(10_000);
            meter::take();
            literal_properties(&text);
            assert!(meter::take() <= 4 * text.len(), "{piece}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in r#"([{}:,'"`/*\[\]\\a é$\n().]|join|new URL|import\.meta\.url|'b'){0,60}"#) {
            literal_properties(&text);
        }
    }
}
