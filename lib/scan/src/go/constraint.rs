//! `//go:build` and `// +build`: whether no build includes a file.

/// The tag that is never set, by the convention in Go's documentation.
const NEVER_SET: &str = "ignore";
/// Deepest nesting of parentheses and negations; a deeper constraint is not evaluated.
const MAX_DEPTH: usize = 64;

/// The position of the constraint in `text[head..package_at]` that no build meets, if there is one.
pub(super) fn find_unmet(text: &[u8], head: usize, package_at: usize) -> Option<usize> {
    let header = text.get(head..package_at)?;
    // Most files have none.
    memchr::memmem::find(header, b"build")?;
    let mut new = None;
    let mut old = Vec::new();
    let mut counted = 0;
    let mut at = head;
    let mut in_block = false;
    // Whether anything but `//` and blank lines was read: old constraints must precede it.
    let mut has_ended = false;
    for line in header.split_inclusive(|byte| *byte == b'\n') {
        let start = at;
        at += line.len();
        let line = line.trim_ascii();
        let comment = line.strip_prefix(b"//").filter(|_| !in_block);
        if line.is_empty() && !has_ended {
            // Old constraints count only if a blank line follows them.
            counted = old.len();
        }
        has_ended |= comment.is_none() && !line.is_empty();
        if let Some(expression) = comment.and_then(|comment| words_after(comment, b"go:build")) {
            // Go rejects a file with two of them.
            if new.replace((start, expression)).is_some() {
                return None;
            }
        } else if let Some(options) = comment.and_then(|comment| words_after(comment.trim_ascii(), b"+build"))
            && !has_ended
        {
            old.push((start, options));
        }
        in_block = ends_in_block(line, in_block);
    }
    if let Some((start, expression)) = new {
        let rest = std::str::from_utf8(expression).ok()?;
        return (Expression { rest }.evaluate() == Some(false)).then_some(start);
    }
    old.truncate(counted);
    let is_unmet = |options: &[u8]| {
        let is_off = |term: &[u8]| term == NEVER_SET.as_bytes();
        options
            .split(u8::is_ascii_whitespace)
            .filter(|option| !option.is_empty())
            .all(|option| option.split(|byte| *byte == b',').any(is_off))
    };
    old.into_iter()
        .find(|(_, options)| is_unmet(options))
        .map(|(start, _)| start)
}

/// The text after `word` and white space.
fn words_after<'t>(text: &'t [u8], word: &[u8]) -> Option<&'t [u8]> {
    let rest = text.strip_prefix(word)?;
    rest.first()
        .is_some_and(u8::is_ascii_whitespace)
        .then(|| rest.trim_ascii())
}

/// Whether a block comment is open after `line`.
fn ends_in_block(line: &[u8], was_in_block: bool) -> bool {
    let mut rest = line;
    let mut in_block = was_in_block;
    loop {
        if in_block {
            let Some(end) = memchr::memmem::find(rest, b"*/") else {
                return true;
            };
            rest = rest[end + 2..].trim_ascii();
        } else if let Some(inside) = rest.strip_prefix(b"/*") {
            rest = inside;
        } else {
            return false;
        }
        in_block = !in_block;
    }
}

/// An expression of tags, `!`, `&&`, `||` and parentheses.
struct Expression<'t> {
    rest: &'t str,
}

/// `None`: it depends on the target of the build.
type Tristate = Option<bool>;

impl Expression<'_> {
    fn evaluate(mut self) -> Tristate {
        let truth = self.evaluate_or(MAX_DEPTH)?;
        self.rest.trim().is_empty().then_some(truth).flatten()
    }

    /// Consumes `token`, if it comes next. Returns whether it did.
    fn accept(&mut self, token: &str) -> bool {
        match self.rest.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// The outer `None` is a syntax error.
    fn evaluate_or(&mut self, depth: usize) -> Option<Tristate> {
        let mut truth = self.evaluate_and(depth)?;
        while self.accept("||") {
            truth = match (truth, self.evaluate_and(depth)?) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            };
        }
        Some(truth)
    }

    fn evaluate_and(&mut self, depth: usize) -> Option<Tristate> {
        let mut truth = self.evaluate_term(depth)?;
        while self.accept("&&") {
            truth = match (truth, self.evaluate_term(depth)?) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
        }
        Some(truth)
    }

    fn evaluate_term(&mut self, depth: usize) -> Option<Tristate> {
        let depth = depth.checked_sub(1)?;
        if self.accept("!") {
            // Go allows no double negation.
            if self.rest.trim_start().starts_with('!') {
                return None;
            }
            return Some(self.evaluate_term(depth)?.map(|truth| !truth));
        }
        if self.accept("(") {
            let truth = self.evaluate_or(depth)?;
            return self.accept(")").then_some(truth);
        }
        let rest = self.rest.trim_start();
        let is_tag = |character: char| character.is_alphanumeric() || character == '_' || character == '.';
        let length = rest.find(|character| !is_tag(character)).unwrap_or(rest.len());
        let (tag, rest) = rest.split_at(length);
        self.rest = rest;
        match tag {
            "" => None,
            NEVER_SET => Some(Some(false)),
            _ => Some(None),
        }
    }
}
