//! `cjson.decode`, directly into Lua tables. It accepts what lua-cjson 2.1 in Redis 7.0 accepts.

use crate::number::float_prefix;
use mlua::{IntoLua, Lua, LuaString, Table, Value};
use std::borrow::Cow;

use super::json_encode::Problem;

/// Deepest nesting of arrays and objects.
const MAX_DEPTH: usize = 1000;

enum Token<'a> {
    ObjectBegin,
    ObjectEnd,
    ArrayBegin,
    ArrayEnd,
    Text(Cow<'a, [u8]>),
    Number(f64),
    Boolean(bool),
    Null,
    Colon,
    Comma,
    End,
    Error(&'static str),
}

impl Token<'_> {
    fn name(&self) -> &'static str {
        match self {
            Token::ObjectBegin => "T_OBJ_BEGIN",
            Token::ObjectEnd => "T_OBJ_END",
            Token::ArrayBegin => "T_ARR_BEGIN",
            Token::ArrayEnd => "T_ARR_END",
            Token::Text(_) => "T_STRING",
            Token::Number(_) => "T_NUMBER",
            Token::Boolean(_) => "T_BOOLEAN",
            Token::Null => "T_NULL",
            Token::Colon => "T_COLON",
            Token::Comma => "T_COMMA",
            Token::End => "T_END",
            Token::Error(text) => text,
        }
    }
}

struct Parser<'a> {
    lua: &'a Lua,
    text: &'a [u8],
    at: usize,
    /// Start of the newest token, or of its error.
    token_at: usize,
    depth: usize,
}

/// The value of the JSON in `text`.
pub(super) fn decode(lua: &Lua, text: &[u8]) -> Result<Value, Problem> {
    if let [first, second, ..] = text
        && (*first == 0 || *second == 0)
    {
        return Err(Problem::Refused(
            "JSON parser does not support UTF-16 or UTF-32".to_owned(),
        ));
    }
    let mut parser = Parser {
        lua,
        text,
        at: 0,
        token_at: 0,
        depth: 0,
    };
    let token = parser.token();
    let value = parser.value(token)?;
    match parser.token() {
        Token::End => Ok(value),
        other => Err(parser.expected("the end", &other)),
    }
}

impl<'a> Parser<'a> {
    fn expected(&self, wanted: &str, found: &Token) -> Problem {
        let (found, position) = (found.name(), self.token_at + 1);
        Problem::Refused(format!("Expected {wanted} but found {found} at character {position}"))
    }

    /// The byte at `at`. Past the end it is NUL, as in C, and a NUL ends the text.
    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    fn starts_with(&self, word: &[u8]) -> bool {
        self.text[self.at.min(self.text.len())..].starts_with(word)
    }

    fn token(&mut self) -> Token<'a> {
        while matches!(self.byte(self.at), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        self.token_at = self.at;
        let (token, length) = match self.byte(self.at) {
            b'{' => (Token::ObjectBegin, 1),
            b'}' => (Token::ObjectEnd, 1),
            b'[' => (Token::ArrayBegin, 1),
            b']' => (Token::ArrayEnd, 1),
            b':' => (Token::Colon, 1),
            b',' => (Token::Comma, 1),
            0 => (Token::End, 0),
            b'"' => (self.string(), 0),
            b'-' | b'0'..=b'9' => (self.number(), 0),
            b't' if self.starts_with(b"true") => (Token::Boolean(true), 4),
            b'f' if self.starts_with(b"false") => (Token::Boolean(false), 5),
            b'n' if self.starts_with(b"null") => (Token::Null, 4),
            b'+' => (self.number(), 0),
            b'i' | b'I' | b'n' | b'N' if self.is_number_word() => (self.number(), 0),
            _ => (Token::Error("invalid token"), 0),
        };
        self.at += length;
        token
    }

    fn is_number_word(&self) -> bool {
        let word = self.text.get(self.at..self.at + 3).unwrap_or_default();
        word.eq_ignore_ascii_case(b"inf") || word.eq_ignore_ascii_case(b"nan")
    }

    fn number(&mut self) -> Token<'a> {
        match float_prefix(&self.text[self.at..]) {
            Some((number, length)) => {
                self.at += length;
                Token::Number(number)
            }
            None => Token::Error("invalid number"),
        }
    }

    fn string(&mut self) -> Token<'a> {
        let begin = self.at + 1;
        let rest = &self.text[begin..];
        let plain = rest
            .iter()
            .position(|byte| matches!(byte, b'"' | b'\\' | 0))
            .unwrap_or(rest.len());
        self.at = begin + plain;
        if self.byte(self.at) == b'"' {
            self.at += 1;
            return Token::Text(Cow::Borrowed(&rest[..plain]));
        }
        let mut text = rest[..plain].to_vec();
        loop {
            let byte = self.byte(self.at);
            match byte {
                b'"' => break,
                0 => return self.error_token("unexpected end of string"),
                b'\\' => {
                    let escaped = match self.byte(self.at + 1) {
                        literal @ (b'"' | b'\\' | b'/') => literal,
                        b'b' => 0x08,
                        b't' => b'\t',
                        b'n' => b'\n',
                        b'f' => 0x0c,
                        b'r' => b'\r',
                        b'u' => match self.unicode() {
                            Some((character, length)) => {
                                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                                self.at += length;
                                continue;
                            }
                            None => return self.error_token("invalid unicode escape code"),
                        },
                        _ => return self.error_token("invalid escape code"),
                    };
                    text.push(escaped);
                    self.at += 2;
                }
                byte => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        Token::Text(Cow::Owned(text))
    }

    fn error_token(&mut self, text: &'static str) -> Token<'a> {
        self.token_at = self.at;
        Token::Error(text)
    }

    /// The character of the `\uXXXX` at this position, or of a pair of them, and their length in bytes.
    fn unicode(&self) -> Option<(char, usize)> {
        let first = self.hex(self.at + 2)?;
        if !(0xd800..0xe000).contains(&first) {
            return Some((char::from_u32(first)?, 6));
        }
        let is_pair = first < 0xdc00 && self.byte(self.at + 6) == b'\\' && self.byte(self.at + 7) == b'u';
        let second = if is_pair { self.hex(self.at + 8)? } else { return None };
        if !(0xdc00..0xe000).contains(&second) {
            return None;
        }
        Some((
            char::from_u32(0x1_0000 + ((first & 0x3ff) << 10) + (second & 0x3ff))?,
            12,
        ))
    }

    fn hex(&self, at: usize) -> Option<u32> {
        let mut number = 0;
        for byte in self.text.get(at..at + 4)? {
            number = number * 16 + char::from(*byte).to_digit(16)?;
        }
        Some(number)
    }

    fn value(&mut self, token: Token) -> Result<Value, Problem> {
        Ok(match token {
            Token::Text(text) => Value::String(self.lua.create_string(&text)?),
            Token::Number(number) => Value::Number(number),
            Token::Boolean(boolean) => Value::Boolean(boolean),
            Token::Null => Value::NULL,
            Token::ObjectBegin => self.nested(Self::object)?,
            Token::ArrayBegin => self.nested(Self::array)?,
            other => return Err(self.expected("value", &other)),
        })
    }

    /// Stores the value that begins with `token` in `table`. Nearly all text is UTF-8, which needs no handle.
    fn store(&mut self, table: &Table, key: impl IntoLua, token: Token) -> Result<(), Problem> {
        match token {
            Token::Text(text) => match std::str::from_utf8(&text) {
                Ok(text) => table.raw_set(key, text)?,
                Err(_) => table.raw_set(key, LuaString::wrap(&*text))?,
            },
            Token::Number(number) => table.raw_set(key, number)?,
            other => {
                let value = self.value(other)?;
                table.raw_set(key, value)?;
            }
        }
        Ok(())
    }

    fn nested(&mut self, parse: fn(&mut Self) -> Result<Table, Problem>) -> Result<Value, Problem> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let (depth, at) = (self.depth, self.at);
            return Err(Problem::Refused(format!(
                "Found too many nested data structures ({depth}) at character {at}"
            )));
        }
        let table = parse(self)?;
        self.depth -= 1;
        Ok(Value::Table(table))
    }

    fn object(&mut self) -> Result<Table, Problem> {
        // Filled field by field: Lua 5.1 allows at most 8,000 handles on values at a time.
        // No capacity is reserved, so that the fields have the same order as in Redis.
        let table = self.lua.create_table()?;
        let mut token = self.token();
        if matches!(token, Token::ObjectEnd) {
            return Ok(table);
        }
        loop {
            let Token::Text(name) = token else {
                return Err(self.expected("object key string", &token));
            };
            match self.token() {
                Token::Colon => {}
                other => return Err(self.expected("colon", &other)),
            }
            let value = self.token();
            match std::str::from_utf8(&name) {
                Ok(name) => self.store(&table, name, value)?,
                Err(_) => self.store(&table, LuaString::wrap(&*name), value)?,
            }
            match self.token() {
                Token::ObjectEnd => return Ok(table),
                Token::Comma => token = self.token(),
                other => return Err(self.expected("comma or object end", &other)),
            }
        }
    }

    fn array(&mut self) -> Result<Table, Problem> {
        let table = self.lua.create_table()?;
        let mut token = self.token();
        if matches!(token, Token::ArrayEnd) {
            return Ok(table);
        }
        for index in 1_usize.. {
            self.store(&table, index, token)?;
            match self.token() {
                Token::ArrayEnd => break,
                Token::Comma => token = self.token(),
                other => return Err(self.expected("comma or array end", &other)),
            }
        }
        Ok(table)
    }
}
