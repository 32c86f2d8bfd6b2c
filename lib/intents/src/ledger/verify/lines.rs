use std::io::{self, ErrorKind, Read};

/// A longer line is damage.
pub const MAX_LINE_BYTES: usize = 1 << 20;

const INITIAL_BUFFER_BYTES: usize = 256 * 1024;

/// Splits a stream into lines. The buffer grows to at most twice the longest line that is allowed.
pub(super) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    /// The part that was read but not yet returned is `buffer[start..end]`.
    start: usize,
    end: usize,
}

pub(super) enum NextLine<'a> {
    /// A line without its newline. Only the last line may lack a newline.
    Line {
        content: &'a [u8],
        has_newline: bool,
    },
    /// A line that is too long. Reading cannot continue after it.
    TooLong,
    End,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(source: R) -> Self {
        Lines {
            source,
            buffer: vec![0; INITIAL_BUFFER_BYTES],
            start: 0,
            end: 0,
        }
    }

    pub(super) fn next_line(&mut self) -> io::Result<NextLine<'_>> {
        let mut searched = self.start;
        loop {
            if let Some(offset) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let (start, end) = (self.start, searched + offset);
                self.start = end + 1;
                if end - start > MAX_LINE_BYTES {
                    return Ok(NextLine::TooLong);
                }
                return Ok(NextLine::Line {
                    content: &self.buffer[start..end],
                    has_newline: true,
                });
            }
            if self.end - self.start > MAX_LINE_BYTES {
                return Ok(NextLine::TooLong);
            }
            self.make_room();
            searched = self.end;
            if self.fill()? == 0 {
                let content = &self.buffer[self.start..self.end];
                self.start = self.end;
                return Ok(match content {
                    [] => NextLine::End,
                    content => NextLine::Line {
                        content,
                        has_newline: false,
                    },
                });
            }
        }
    }

    /// If the buffer is full, moves the unreturned part to the beginning. If it is there already, grows the buffer.
    fn make_room(&mut self) {
        if self.end < self.buffer.len() {
            return;
        }
        if self.start == 0 {
            self.buffer.resize(2 * self.end.min(MAX_LINE_BYTES), 0);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
    }

    /// Reads more bytes to the end of the buffer. Returns how many.
    fn fill(&mut self) -> io::Result<usize> {
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(bytes) => {
                    self.end += bytes;
                    return Ok(bytes);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns its bytes in portions of at most `self.1` bytes.
    struct Portions<'a>(&'a [u8], usize);

    impl Read for Portions<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let bytes = self.1.min(out.len()).min(self.0.len());
            out[..bytes].copy_from_slice(&self.0[..bytes]);
            self.0 = &self.0[bytes..];
            Ok(bytes)
        }
    }

    fn cut(text: &[u8], portion: usize) -> Vec<(Vec<u8>, bool)> {
        let mut lines = Lines::new(Portions(text, portion));
        let mut found = Vec::new();
        loop {
            match lines.next_line().unwrap() {
                NextLine::Line { content, has_newline } => found.push((content.to_vec(), has_newline)),
                NextLine::TooLong => {
                    found.push((b"TOO LONG".to_vec(), false));
                    return found;
                }
                NextLine::End => return found,
            }
        }
    }

    #[test]
    fn lines_are_the_same_in_whatever_portions_they_come() {
        let long = vec![b'x'; MAX_LINE_BYTES];
        let text = [b"a\n\nbc\r\n", &long[..], b"\n", &long[..300_000], b"\nlast"].concat();
        let expected: Vec<(Vec<u8>, bool)> = [
            (&b"a"[..], true),
            (b"", true),
            (b"bc\r", true),
            (&long, true),
            (&long[..300_000], true),
            (b"last", false),
        ]
        .map(|(content, has_newline)| (content.to_vec(), has_newline))
        .to_vec();
        for portion in [977, 65_536, 1 << 19, usize::MAX] {
            assert!(cut(&text, portion) == expected, "in portions of {portion}");
        }
        assert_eq!(cut(b"a\nb", 1).len(), 2);
        assert!(cut(b"", 1).is_empty());
    }

    #[test]
    fn a_line_that_is_too_long_ends_it_in_bounded_memory() {
        for newline in [&b""[..], b"\nnext\n"] {
            let text = [b"a\n", &vec![b'x'; MAX_LINE_BYTES + 1][..], newline].concat();
            for portion in [100_000, usize::MAX] {
                assert_eq!(cut(&text, portion).last().unwrap().0, b"TOO LONG");
            }
        }
        let mut endless = Lines::new(io::repeat(b'x').take(100 << 20));
        assert!(matches!(endless.next_line().unwrap(), NextLine::TooLong));
        assert!(endless.buffer.len() <= 2 * MAX_LINE_BYTES);
    }
}
