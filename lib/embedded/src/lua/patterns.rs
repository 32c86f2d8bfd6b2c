//! The patterns of Lua 5.1, for clients' scripts. Lua's own matcher runs no hook, and some patterns make it run forever or
//! overflow its stack. This one reports its steps and bounds its depth.

/// Most captures, as in Lua.
const MOST_CAPTURES: usize = 32;
/// Deepest nesting of a match: about one level for each repeated item of the pattern.
const MOST_DEPTH: usize = 10_000;
/// Steps between two reports.
const STEPS: u64 = 4096;
/// Bytes that count as one step when compared.
const STEP_BYTES: usize = 16;

/// Why a search has no result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// The pattern is malformed, in Lua's words.
    Malformed(&'static str),
    /// The time is up.
    Ended,
}

type Step<T> = Result<T, Problem>;

/// The value of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Capture {
    /// The bytes from the first offset up to the second, exclusive.
    Text(usize, usize),
    /// `()`: an offset.
    Position(usize),
    /// Opened, and not closed.
    Open(usize),
}

/// A match: its start, its end (exclusive), and its captures.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub start: usize,
    pub end: usize,
    pub captures: Vec<Capture>,
}

struct Matcher<'a> {
    subject: &'a [u8],
    pattern: &'a [u8],
    captures: Vec<Capture>,
    depth: usize,
    steps: u64,
    /// Called regularly: whether to go on.
    may_go_on: &'a mut dyn FnMut() -> bool,
}

/// The first match of `pattern` in `subject` at or after `init`. With `has_anchor`, a leading `^` is an anchor.
pub(super) fn search(
    subject: &[u8],
    pattern: &[u8],
    init: usize,
    has_anchor: bool,
    may_go_on: &mut dyn FnMut() -> bool,
) -> Step<Option<Found>> {
    // In Lua 5.1 a pattern ends at a NUL.
    let end = pattern.iter().position(|byte| *byte == 0).unwrap_or(pattern.len());
    let pattern = &pattern[..end];
    let is_anchored = has_anchor && pattern.first() == Some(&b'^');
    let mut matcher = Matcher {
        subject,
        pattern: if is_anchored { &pattern[1..] } else { pattern },
        captures: Vec::new(),
        depth: 0,
        steps: 0,
        may_go_on,
    };
    for start in init..=subject.len() {
        matcher.captures.clear();
        if let Some(end) = matcher.run(start, 0)? {
            if matcher
                .captures
                .iter()
                .any(|capture| matches!(capture, Capture::Open(_)))
            {
                return Err(Problem::Malformed("unfinished capture"));
            }
            return Ok(Some(Found {
                start,
                end,
                captures: matcher.captures,
            }));
        }
        if is_anchored {
            break;
        }
    }
    Ok(None)
}

impl Matcher<'_> {
    fn spend(&mut self, steps: u64) -> Step<()> {
        let before = self.steps / STEPS;
        self.steps += steps;
        if self.steps / STEPS > before && !(self.may_go_on)() {
            return Err(Problem::Ended);
        }
        Ok(())
    }

    fn at(&self, place: usize) -> Option<u8> {
        self.pattern.get(place).copied()
    }

    /// Matches the pattern from `p` on at `s`, one level deeper. Returns the end of the match.
    fn run(&mut self, s: usize, p: usize) -> Step<Option<usize>> {
        if self.depth >= MOST_DEPTH {
            return Err(Problem::Malformed("pattern too complex"));
        }
        self.depth += 1;
        let end = self.run_here(s, p);
        self.depth -= 1;
        end
    }

    fn run_here(&mut self, mut s: usize, mut p: usize) -> Step<Option<usize>> {
        loop {
            self.spend(1)?;
            let Some(item) = self.at(p) else {
                return Ok(Some(s));
            };
            match (item, self.at(p + 1)) {
                (b'(', Some(b')')) => return self.begin(Capture::Position(s), s, p + 2),
                (b'(', _) => return self.begin(Capture::Open(s), s, p + 1),
                (b')', _) => return self.end(s, p + 1),
                (b'$', None) => return Ok((s == self.subject.len()).then_some(s)),
                (b'%', Some(b'b')) => match self.balanced(s, p + 2)? {
                    Some(end) => (s, p) = (end, p + 4),
                    None => return Ok(None),
                },
                (b'%', Some(b'f')) => match self.frontier(s, p + 2)? {
                    Some(next) => p = next,
                    None => return Ok(None),
                },
                (b'%', Some(digit @ b'0'..=b'9')) => match self.repeated(s, digit)? {
                    Some(end) => (s, p) = (end, p + 2),
                    None => return Ok(None),
                },
                _ => {
                    let next = self.class_end(p)?;
                    let is_match = self.is_single(s, p, next)?;
                    match self.at(next) {
                        Some(b'?') => {
                            if is_match && let Some(end) = self.run(s + 1, next + 1)? {
                                return Ok(Some(end));
                            }
                            p = next + 1;
                        }
                        Some(b'*') => return self.most(s, p, next),
                        Some(b'+') if is_match => return self.most(s + 1, p, next),
                        Some(b'-') => return self.least(s, p, next),
                        Some(b'+') => return Ok(None),
                        _ if is_match => (s, p) = (s + 1, next),
                        _ => return Ok(None),
                    }
                }
            }
        }
    }

    fn begin(&mut self, capture: Capture, s: usize, p: usize) -> Step<Option<usize>> {
        if self.captures.len() >= MOST_CAPTURES {
            return Err(Problem::Malformed("too many captures"));
        }
        let level = self.captures.len();
        self.captures.push(capture);
        let end = self.run(s, p)?;
        if end.is_none() {
            self.captures.truncate(level);
        }
        Ok(end)
    }

    fn end(&mut self, s: usize, p: usize) -> Step<Option<usize>> {
        let open = self
            .captures
            .iter()
            .rposition(|capture| matches!(capture, Capture::Open(_)));
        let Some((level, Capture::Open(start))) = open.map(|level| (level, self.captures[level])) else {
            return Err(Problem::Malformed("invalid pattern capture"));
        };
        self.captures[level] = Capture::Text(start, s);
        let end = self.run(s, p)?;
        if end.is_none() {
            self.captures[level] = Capture::Open(start);
        }
        Ok(end)
    }

    /// `%bxy`.
    fn balanced(&mut self, s: usize, p: usize) -> Step<Option<usize>> {
        let (Some(open), Some(close)) = (self.at(p), self.at(p + 1)) else {
            return Err(Problem::Malformed("unbalanced pattern"));
        };
        if self.subject.get(s) != Some(&open) {
            return Ok(None);
        }
        let mut depth = 1_usize;
        for place in s + 1..self.subject.len() {
            self.spend(1)?;
            let byte = self.subject[place];
            if byte == close {
                depth -= 1;
                if depth == 0 {
                    return Ok(Some(place + 1));
                }
            } else if byte == open {
                depth += 1;
            }
        }
        Ok(None)
    }

    /// `%f[set]`: the position in the pattern after it, if the set begins at `s`.
    fn frontier(&mut self, s: usize, p: usize) -> Step<Option<usize>> {
        if self.at(p) != Some(b'[') {
            return Err(Problem::Malformed("missing '[' after '%f' in pattern"));
        }
        let next = self.class_end(p)?;
        let before = s.checked_sub(1).map_or(0, |before| self.subject[before]);
        let here = self.subject.get(s).copied().unwrap_or(0);
        let is_begin = !self.is_in_set(before, p, next - 1) && self.is_in_set(here, p, next - 1);
        Ok(is_begin.then_some(next))
    }

    /// `%1`: the text of the capture, once more.
    fn repeated(&mut self, s: usize, digit: u8) -> Step<Option<usize>> {
        let captured = usize::from(digit).checked_sub(usize::from(b'1'));
        match captured.and_then(|level| self.captures.get(level)).copied() {
            Some(Capture::Text(start, end)) => {
                let text = &self.subject[start..end];
                let is_match = self.subject[s..].starts_with(text);
                self.spend((text.len() / STEP_BYTES) as u64)?;
                Ok(is_match.then_some(s + (end - start)))
            }
            Some(Capture::Position(_)) => Ok(None),
            Some(Capture::Open(_)) | None => Err(Problem::Malformed("invalid capture index")),
        }
    }

    /// Matches as many repetitions as possible.
    fn most(&mut self, s: usize, p: usize, next: usize) -> Step<Option<usize>> {
        let mut count = 0;
        while self.is_single(s + count, p, next)? {
            count += 1;
        }
        loop {
            if let Some(end) = self.run(s + count, next + 1)? {
                return Ok(Some(end));
            }
            if count == 0 {
                return Ok(None);
            }
            count -= 1;
        }
    }

    /// Matches as few repetitions as possible.
    fn least(&mut self, mut s: usize, p: usize, next: usize) -> Step<Option<usize>> {
        loop {
            if let Some(end) = self.run(s, next + 1)? {
                return Ok(Some(end));
            }
            if !self.is_single(s, p, next)? {
                return Ok(None);
            }
            s += 1;
        }
    }

    /// The end of the single item that begins at `p`.
    fn class_end(&self, p: usize) -> Step<usize> {
        let mut next = p + 1;
        match self.at(p) {
            Some(b'%') if self.at(next).is_none() => Err(Problem::Malformed("malformed pattern (ends with '%')")),
            Some(b'%') => Ok(next + 1),
            Some(b'[') => {
                if self.at(next) == Some(b'^') {
                    next += 1;
                }
                loop {
                    let byte = self.at(next);
                    next += 1;
                    match byte {
                        None => return Err(Problem::Malformed("malformed pattern (missing ']')")),
                        Some(b'%') if self.at(next).is_some() => next += 1,
                        Some(_) => {}
                    }
                    if self.at(next) == Some(b']') {
                        return Ok(next + 1);
                    }
                }
            }
            _ => Ok(next),
        }
    }

    /// Whether the byte at `s` matches the item from `p` up to `next`, exclusive.
    fn is_single(&mut self, s: usize, p: usize, next: usize) -> Step<bool> {
        self.spend(1 + ((next - p) / STEP_BYTES) as u64)?;
        let Some(byte) = self.subject.get(s).copied() else {
            return Ok(false);
        };
        Ok(match self.pattern[p] {
            b'.' => true,
            b'%' => is_of_class(byte, self.pattern[p + 1]),
            b'[' => self.is_in_set(byte, p, next - 1),
            literal => literal == byte,
        })
    }

    /// Whether `byte` is in the set from the `[` at `p` to the `]` at `last`.
    fn is_in_set(&self, byte: u8, p: usize, last: usize) -> bool {
        let is_complement = self.at(p + 1) == Some(b'^');
        let mut place = p + 1 + usize::from(is_complement);
        while place < last {
            let item = self.pattern[place];
            if item == b'%' && place + 1 < self.pattern.len() {
                if is_of_class(byte, self.pattern[place + 1]) {
                    return !is_complement;
                }
                place += 2;
            } else if self.at(place + 1) == Some(b'-') && place + 2 < last {
                if (item..=self.pattern[place + 2]).contains(&byte) {
                    return !is_complement;
                }
                place += 3;
            } else {
                if item == byte {
                    return !is_complement;
                }
                place += 1;
            }
        }
        is_complement
    }
}

/// Whether `byte` belongs to `%CLASS`.
fn is_of_class(byte: u8, class: u8) -> bool {
    let is_of = match class.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        b's' => matches!(byte, b' ' | 9..=13),
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        b'z' => byte == 0,
        _ => return class == byte,
    };
    is_of != class.is_ascii_uppercase()
}

#[cfg(test)]
mod tests;
