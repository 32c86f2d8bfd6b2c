//! One segment of a pattern: the text between two slashes.

/// An element of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Byte(u8),
    /// One byte of a set: `?`, `[a-z]`.
    Set(ByteSet),
    /// Any bytes: `*`.
    Star,
}

/// A set of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    pub(super) const EMPTY: ByteSet = ByteSet([0; 4]);

    /// The meaning of `?`: all but the slash.
    pub(super) const ANY: ByteSet = ByteSet([!(1 << b'/'), u64::MAX, u64::MAX, u64::MAX]);

    pub(super) fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    pub(super) fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    pub(super) fn and(&self, other: &ByteSet) -> ByteSet {
        ByteSet(std::array::from_fn(|index| self.0[index] & other.0[index]))
    }

    /// All other bytes, without the slash.
    pub(super) fn complement(&self) -> ByteSet {
        ByteSet(self.0.map(|word| !word)).and(&ByteSet::ANY)
    }

    /// The most readable member, but not a dot.
    pub(super) fn sample(&self) -> Option<u8> {
        let readable = (b'a'..=b'z').chain(b'0'..=b'9').chain(b'!'..=b'~');
        let mut candidates = readable.chain(0..=u8::MAX);
        candidates.find(|byte| *byte != b'.' && self.contains(*byte))
    }
}

impl Token {
    /// The bytes that it matches.
    pub(super) fn byte_set(&self) -> ByteSet {
        match self {
            Token::Byte(byte) => {
                let mut set = ByteSet::EMPTY;
                set.insert(*byte);
                set
            }
            Token::Set(set) => *set,
            Token::Star => ByteSet::ANY,
        }
    }

    /// Whether both match a common byte. Neither is a star.
    pub(super) fn intersects(&self, other: &Token) -> bool {
        match (self, other) {
            (Token::Byte(byte), other) => other.matches(*byte),
            (token, Token::Byte(byte)) => token.matches(*byte),
            (one, other) => one.byte_set().and(&other.byte_set()) != ByteSet::EMPTY,
        }
    }

    fn matches(&self, byte: u8) -> bool {
        match self {
            Token::Byte(own) => *own == byte,
            Token::Set(set) => set.contains(byte),
            Token::Star => true,
        }
    }
}

/// One segment. It has a name, tokens, or both.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// The name that it matches literally.
    name: Option<Box<[u8]>>,
    /// Its wildcards and the text around them.
    tokens: Box<[Token]>,
    /// The positions of the first and the last star.
    stars: Option<(usize, usize)>,
}

impl Segment {
    /// The segment of `tokens`, which also matches `name`.
    pub(super) fn new(tokens: Vec<Token>, name: Option<Vec<u8>>) -> Self {
        let bytes: Option<Vec<u8>> = tokens.iter().map(literal_byte).collect();
        let tokens = if bytes.is_some() { Vec::new() } else { tokens };
        let first = tokens.iter().position(|token| *token == Token::Star);
        let last = tokens.iter().rposition(|token| *token == Token::Star);
        Segment {
            name: bytes.or(name).map(Vec::into_boxed_slice),
            tokens: tokens.into_boxed_slice(),
            stars: first.zip(last),
        }
    }

    pub(super) fn name(&self) -> Option<&[u8]> {
        self.name.as_deref()
    }

    /// Its wildcards and the text around them. Empty if it is only a name.
    pub(super) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Whether it consists of wildcards alone.
    pub(super) fn is_wild(&self) -> bool {
        let is_wild = |token: &Token| matches!(token, Token::Star) || *token == Token::Set(ByteSet::ANY);
        !self.tokens.is_empty() && self.tokens.iter().all(is_wild)
    }

    /// The bytes with which each matching name begins.
    pub(super) fn prefix(&self) -> Vec<u8> {
        match self.tokens.is_empty() {
            true => self.name.as_deref().unwrap_or_default().to_vec(),
            false => self.tokens.iter().map_while(literal_byte).collect(),
        }
    }

    /// The bytes with which each matching name ends.
    pub(super) fn suffix(&self) -> Vec<u8> {
        if self.tokens.is_empty() {
            return self.prefix();
        }
        let mut suffix: Vec<u8> = self.tokens.iter().rev().map_while(literal_byte).collect();
        suffix.reverse();
        suffix
    }

    /// Whether it names files by an extension, as `*.ts` does. A name whose only dot comes first has no extension, and
    /// neither does a version (`v1.2`).
    pub(super) fn has_extension(&self) -> bool {
        let name_tokens: Vec<Token>;
        let tokens = match self.tokens.is_empty() {
            true => {
                let name = self.name.as_deref().unwrap_or_default();
                name_tokens = name.iter().map(|byte| Token::Byte(*byte)).collect();
                &name_tokens
            }
            false => &*self.tokens,
        };
        let Some(dot) = tokens.iter().rposition(|token| *token == Token::Byte(b'.')) else {
            return false;
        };
        let extension = &tokens[dot + 1..];
        let is_digit = |token: &Token| matches!(token, Token::Byte(byte) if byte.is_ascii_digit());
        dot > 0 && !extension.is_empty() && !extension.iter().all(is_digit)
    }

    /// Whether it matches `text`. `steps` grows by the number of compared bytes: at most a few times the product of
    /// both lengths, whatever the wildcards are.
    pub(super) fn matches(&self, text: &[u8], steps: &mut u64) -> bool {
        *steps += 1;
        self.name.as_deref() == Some(text)
            || (!self.tokens.is_empty() && self.match_row(text, |token, byte| token.matches(*byte), |_, _| (), steps))
    }

    /// The tokens before the first star, between the first and the last star, and after the last.
    pub(super) fn around_stars(&self) -> Option<[&[Token]; 3]> {
        let (first, last) = self.stars?;
        let middle = self.tokens.get(first + 1..last).unwrap_or_default();
        Some([&self.tokens[..first], middle, &self.tokens[last + 1..]])
    }

    /// Whether the tokens match `row`: a text, or the tokens of another segment without stars. `is_match` compares one
    /// token with one element. `on_match` gets each matching piece and its position in `row`.
    pub(super) fn match_row<T>(
        &self,
        row: &[T],
        is_match: impl Fn(&Token, &T) -> bool,
        mut on_match: impl FnMut(usize, &[Token]),
        steps: &mut u64,
    ) -> bool {
        let mut fits = |tokens: &[Token], start: usize, end: usize| {
            let range = row.get(start..end).unwrap_or_default();
            let fits = tokens.len() <= range.len()
                && tokens.iter().zip(range).all(|(token, element)| {
                    *steps += 1;
                    is_match(token, element)
                });
            if fits {
                on_match(start, tokens);
            }
            fits
        };
        let Some([prefix, middle, suffix]) = self.around_stars() else {
            return self.tokens.len() == row.len() && fits(&self.tokens, 0, row.len());
        };
        if row.len() < prefix.len() + suffix.len() {
            return false;
        }
        let (mut start, end) = (prefix.len(), row.len() - suffix.len());
        if !fits(suffix, end, row.len()) || !fits(prefix, 0, end) {
            return false;
        }
        // The leftmost match of each piece between two stars leaves the most for the next piece.
        for piece in middle.split(|token| *token == Token::Star) {
            while !fits(piece, start, end) {
                if start + piece.len() >= end {
                    return false;
                }
                start += 1;
            }
            start += piece.len();
        }
        true
    }
}

fn literal_byte(token: &Token) -> Option<u8> {
    match token {
        Token::Byte(byte) => Some(*byte),
        _ => None,
    }
}
