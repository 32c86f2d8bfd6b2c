//! Shared by the readers of heads: tokens in their normal form, and the ends of expressions.

use std::borrow::Cow;
use std::ops::Range;

use coord_scan::Dialect;

use crate::outline::Head;
use crate::tokens::{Kind, Tokens};

/// Deepest nesting whose meaning is read; below it, all tokens count. It bounds the stack.
pub(super) const MAX_DEPTH: usize = 64;

/// Words that an expression cannot end with.
const BEFORE_OPERAND: [&[u8]; 20] = [
    b"typeof",
    b"void",
    b"delete",
    b"new",
    b"in",
    b"instanceof",
    b"extends",
    b"keyof",
    b"as",
    b"satisfies",
    b"is",
    b"default",
    b"export",
    b"import",
    b"from",
    b"of",
    b"await",
    b"infer",
    b"unique",
    b"readonly",
];
/// Words that continue an expression on a new line.
const AFTER_OPERAND: [&[u8]; 4] = [b"in", b"instanceof", b"as", b"satisfies"];
/// Words that begin a statement.
const STATEMENTS: [&[u8]; 22] = [
    b"export",
    b"import",
    b"const",
    b"let",
    b"var",
    b"function",
    b"class",
    b"interface",
    b"type",
    b"declare",
    b"enum",
    b"namespace",
    b"module",
    b"abstract",
    b"async",
    b"if",
    b"for",
    b"while",
    b"return",
    b"try",
    b"switch",
    b"throw",
];

pub(super) struct Reader<'a, 't> {
    pub(super) tokens: &'a Tokens<'t>,
    pub(super) dialect: Dialect,
    /// Whether the file has an `import` or `export`.
    pub(super) is_module: bool,
    /// Whether the file has more than declarations of types and ambient values.
    pub(super) has_code: bool,
    /// Whether the file lists exports apart from their declarations.
    pub(super) has_export_list: bool,
}

impl<'a, 't> Reader<'a, 't> {
    pub(super) fn new(tokens: &'a Tokens<'t>, dialect: Dialect) -> Self {
        Reader {
            tokens,
            dialect,
            is_module: false,
            has_code: false,
            has_export_list: false,
        }
    }

    pub(super) fn word(&self, at: usize) -> &'t [u8] {
        self.tokens.word(at)
    }

    pub(super) fn is(&self, at: usize, word: &[u8]) -> bool {
        self.tokens.is(at, word)
    }

    pub(super) fn is_open(&self, at: usize, bracket: &[u8]) -> bool {
        self.tokens.kind(at) == Some(Kind::Open) && self.is(at, bracket)
    }

    /// Index of the first token after the bracket at `at`.
    pub(super) fn after(&self, at: usize) -> usize {
        self.tokens.after(at)
    }

    /// The tokens between the bracket at `at` and its partner.
    pub(super) fn inside(&self, at: usize) -> Range<usize> {
        at + 1..self.tokens.partner(at)
    }

    /// Writes all tokens of `range`, in their normal form.
    pub(super) fn write_exact(&self, range: Range<usize>, head: &mut Head) {
        for at in range {
            self.write(at, head);
        }
    }

    /// Writes one token so that a formatter's choices do not count: quotes, semicolons, commas before a closing
    /// bracket, the first `|` of a union. The name of a property or a parameter is not a reference.
    pub(super) fn write(&self, at: usize, head: &mut Head) {
        let word = self.word(at);
        match self.tokens.kind(at) {
            Some(Kind::Punct) if word == b";" => {}
            Some(Kind::Punct) if matches!(word, b"|" | b"&") && is_before_operand(head.last()) => {}
            Some(Kind::Close) => {
                if head.last() == Some(b",") {
                    head.pop();
                }
                head.push(word);
            }
            Some(Kind::Text) => head.push(&self.text(at)),
            Some(Kind::Word) if self.is_key(at) => head.push(&key(word)),
            _ => head.push(word),
        }
    }

    /// Whether the name at `at` is that of a property or parameter.
    fn is_key(&self, at: usize) -> bool {
        let precedes_colon = self.is(at + 1, b":") || self.is(at + 1, b"?") && self.is(at + 2, b":");
        let Some(before) = at.checked_sub(1).filter(|_| precedes_colon) else {
            return precedes_colon;
        };
        match self.word(before) {
            b"{" | b"," | b";" | b"(" | b"[" => true,
            b"?" => false,
            _ => self.tokens.starts_line(at),
        }
    }

    /// A string with `"` for its quotes, and without escapes of quotes. Other text as it is.
    pub(super) fn text(&self, at: usize) -> Cow<'t, [u8]> {
        let word = self.word(at);
        match word {
            [b'\'' | b'"', ..] => {}
            [b'/', ..] => return Cow::Borrowed(word),
            // A piece of a template.
            _ => return Cow::Owned([b"`", word].concat()),
        }
        let mut out = vec![b'"'];
        out.extend_from_slice(&self.string(at));
        Cow::Owned(out)
    }

    /// The content of the string at `at`, quotes not escaped.
    pub(super) fn string(&self, at: usize) -> Vec<u8> {
        let word = self.word(at);
        let mut rest = word.get(1..word.len().saturating_sub(1)).unwrap_or_default();
        let mut out = Vec::with_capacity(rest.len());
        while let Some(backslash) = memchr::memchr(b'\\', rest) {
            let is_quote = matches!(rest.get(backslash + 1), Some(b'\'' | b'"'));
            let end = if is_quote {
                backslash
            } else {
                (backslash + 2).min(rest.len())
            };
            out.extend_from_slice(&rest[..end]);
            rest = &rest[if is_quote { backslash + 1 } else { end }..];
            if is_quote {
                out.push(rest[0]);
                rest = &rest[1..];
            }
        }
        out.extend_from_slice(rest);
        out
    }

    /// Whether a line break before `at` ends the statement or member.
    pub(super) fn ends_before(&self, at: usize) -> bool {
        if at == 0 || !self.tokens.starts_line(at) {
            return false;
        }
        let (before, word) = (self.word(at - 1), self.word(at));
        let can_end = match self.tokens.kind(at - 1) {
            Some(Kind::Word) => !BEFORE_OPERAND.contains(&before) || at > 1 && self.is(at - 2, b"."),
            Some(Kind::Punct) => match before {
                b"++" | b"--" | b"!" => true,
                // The end of type arguments, or a comparison.
                b">" => STATEMENTS.contains(&word),
                _ => false,
            },
            Some(Kind::Open) => false,
            _ => true,
        };
        let is_continued = match self.tokens.kind(at) {
            Some(Kind::Punct) => !matches!(word, b"!" | b"~" | b"++" | b"--"),
            Some(Kind::Open) => word != b"{",
            Some(Kind::Word) => AFTER_OPERAND.contains(&word),
            _ => false,
        };
        can_end && !is_continued
    }

    /// The end of the expression at `start`: a comma, a semicolon, a closing bracket, or a line break that ends it.
    pub(super) fn expression_end(&self, start: usize, end: usize) -> usize {
        let mut at = start;
        while at < end {
            let word = self.word(at);
            match self.tokens.kind(at) {
                Some(Kind::Punct) if matches!(word, b"," | b";") => return at,
                Some(Kind::Close) => return at,
                _ if at > start && self.ends_before(at) => return at,
                Some(Kind::Punct) if word == b"<" => {
                    at = self.type_arguments_end(at).unwrap_or(at + 1);
                    continue;
                }
                // The return type of an arrow function may have commas: `(a): Map<b, c> => d`.
                Some(Kind::Punct) if word == b":" && at > start && self.is(at - 1, b")") => {
                    at = self.arrow_after_type(at, end).unwrap_or(at + 1);
                    continue;
                }
                _ => {}
            }
            at = self.after(at);
        }
        end.min(at)
    }

    /// The end of the statement at `start`, which is not a declaration.
    pub(super) fn statement_end(&self, start: usize, end: usize) -> usize {
        let mut at = start;
        while at < end {
            if self.is(at, b";") && self.tokens.kind(at) == Some(Kind::Punct) {
                return at + 1;
            }
            if at > start && self.ends_before(at) {
                return at;
            }
            // A block after a head, or by itself.
            let is_block = self.is_open(at, b"{")
                && (at == start || matches!(self.word(at - 1), b")" | b"else" | b"try" | b"finally" | b"do"));
            at = self.after(at);
            if is_block && !matches!(self.word(at), b"." | b"?." | b"(" | b"," | b"=>" | b")") {
                return at;
            }
        }
        end.min(at)
    }
}

/// The name of a property, marked so that it is not a reference to a declaration.
pub(super) fn key(name: &[u8]) -> Vec<u8> {
    [b"'", name].concat()
}

fn is_before_operand(last: Option<&[u8]>) -> bool {
    matches!(
        last,
        None | Some(b"=" | b":" | b"(" | b"<" | b"," | b"=>" | b"[" | b"{")
    )
}
