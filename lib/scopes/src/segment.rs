//! One segment of a pattern: the text between two slashes.

/// An element of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Byte(u8),
    /// One byte of a set: `?`, `[a-z]`.
    One(ByteSet),
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

    /// All others, without the slash.
    pub(super) fn complement(&self) -> ByteSet {
        ByteSet(self.0.map(|word| !word)).and(&ByteSet::ANY)
    }

    /// A member other than the dot, the most readable one.
    pub(super) fn sample(&self) -> Option<u8> {
        let readable = (b'a'..=b'z').chain(b'0'..=b'9').chain(b'!'..=b'~');
        let mut all = readable.chain(0..=u8::MAX);
        all.find(|byte| *byte != b'.' && self.contains(*byte))
    }
}

impl Token {
    /// The bytes of which it takes one.
    pub(super) fn set(&self) -> ByteSet {
        match self {
            Token::Byte(byte) => {
                let mut set = ByteSet::EMPTY;
                set.insert(*byte);
                set
            }
            Token::One(set) => *set,
            Token::Star => ByteSet::ANY,
        }
    }

    /// Whether both take some byte. Neither is a star.
    pub(super) fn meets(&self, other: &Token) -> bool {
        match (self, other) {
            (Token::Byte(one), other) => other.takes(*one),
            (one, Token::Byte(other)) => one.takes(*other),
            (one, other) => one.set().and(&other.set()) != ByteSet::EMPTY,
        }
    }

    fn takes(&self, byte: u8) -> bool {
        match self {
            Token::Byte(own) => *own == byte,
            Token::One(set) => set.contains(byte),
            Token::Star => true,
        }
    }
}

/// One segment. It has a name, tokens, or both.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// The name that it matches to the letter.
    name: Option<Box<[u8]>>,
    /// Its wildcards with the text around them.
    tokens: Box<[Token]>,
    /// The first and the last star.
    stars: Option<(usize, usize)>,
}

impl Segment {
    /// The segment of `tokens`, which also matches `name`.
    pub(super) fn new(tokens: Vec<Token>, name: Option<Vec<u8>>) -> Self {
        let bytes: Option<Vec<u8>> = tokens
            .iter()
            .map(|token| match token {
                Token::Byte(byte) => Some(*byte),
                _ => None,
            })
            .collect();
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

    /// Its wildcards with the text around them; none if it is only a name.
    pub(super) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Whether it is made of nothing but wildcards.
    pub(super) fn is_wild(&self) -> bool {
        let wild = |token: &Token| matches!(token, Token::Star) || *token == Token::One(ByteSet::ANY);
        !self.tokens.is_empty() && self.tokens.iter().all(wild)
    }

    /// The bytes with which each name that it matches begins.
    pub(super) fn head(&self) -> Vec<u8> {
        match self.tokens.is_empty() {
            true => self.name.as_deref().unwrap_or_default().to_vec(),
            false => self.tokens.iter().map_while(byte).collect(),
        }
    }

    /// The bytes with which each name that it matches ends.
    pub(super) fn tail(&self) -> Vec<u8> {
        if self.tokens.is_empty() {
            return self.head();
        }
        let mut tail: Vec<u8> = self.tokens.iter().rev().map_while(byte).collect();
        tail.reverse();
        tail
    }

    /// Whether it names files by an extension, as `*.ts` does. Names that begin with their only dot have none, and versions
    /// (`v1.2`) are none.
    pub(super) fn has_extension(&self) -> bool {
        let named: Vec<Token>;
        let tokens = match self.tokens.is_empty() {
            true => {
                let name = self.name.as_deref().unwrap_or_default();
                named = name.iter().map(|byte| Token::Byte(*byte)).collect();
                &named
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

    /// Whether it matches `text`. `steps` grows by the bytes that were compared: at most a few times the product of both
    /// lengths, whatever the wildcards are.
    pub(super) fn matches(&self, text: &[u8], steps: &mut u64) -> bool {
        *steps += 1;
        self.name.as_deref() == Some(text)
            || (!self.tokens.is_empty() && self.place(text, |token, byte| token.takes(*byte), |_, _| (), steps))
    }

    /// The tokens before the first star, between the first and the last, and behind it.
    pub(super) fn around_stars(&self) -> Option<[&[Token]; 3]> {
        let (first, last) = self.stars?;
        let middle = self.tokens.get(first + 1..last).unwrap_or_default();
        Some([&self.tokens[..first], middle, &self.tokens[last + 1..]])
    }

    /// Whether the tokens match `row`, a text or the tokens of another segment without a star, where `takes` compares one
    /// with one. `placed` gets the positions of tokens.
    pub(super) fn place<T>(
        &self,
        row: &[T],
        takes: impl Fn(&Token, &T) -> bool,
        mut placed: impl FnMut(usize, &[Token]),
        steps: &mut u64,
    ) -> bool {
        let mut fits = |tokens: &[Token], start: usize, end: usize| {
            let place = row.get(start..end).unwrap_or_default();
            let fits = tokens.len() <= place.len()
                && tokens.iter().zip(place).all(|(token, one)| {
                    *steps += 1;
                    takes(token, one)
                });
            if fits {
                placed(start, tokens);
            }
            fits
        };
        let Some([head, middle, tail]) = self.around_stars() else {
            return self.tokens.len() == row.len() && fits(&self.tokens, 0, row.len());
        };
        if row.len() < head.len() + tail.len() {
            return false;
        }
        let (mut start, end) = (head.len(), row.len() - tail.len());
        if !fits(tail, end, row.len()) || !fits(head, 0, end) {
            return false;
        }
        // The leftmost place of each piece between two stars leaves the most for the next one.
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

fn byte(token: &Token) -> Option<u8> {
    match token {
        Token::Byte(byte) => Some(*byte),
        _ => None,
    }
}
