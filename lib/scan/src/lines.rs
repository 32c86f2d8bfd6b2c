//! Line numbers, counted only up to the last import of a file.

/// Counts lines forward from the position of the last call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    counted_to: usize,
    line: u32,
    separator: u8,
}

impl Lines {
    /// In a file without line feeds, carriage returns end the lines, as on old systems.
    pub(super) fn new(text: &[u8]) -> Self {
        let separator = if memchr::memchr(b'\n', text).is_some() {
            b'\n'
        } else {
            b'\r'
        };
        Lines {
            counted_to: 0,
            line: 1,
            separator,
        }
    }

    /// The line of `position`, from 1. The cost is the distance from the position of the last call.
    pub(super) fn at(&mut self, text: &[u8], position: usize) -> u32 {
        let count = |start: usize, end: usize| {
            crate::meter::read(end.saturating_sub(start));
            let between = text.get(start..end).unwrap_or_default();
            u32::try_from(memchr::memchr_iter(self.separator, between).count()).unwrap_or(u32::MAX)
        };
        self.line = if position < self.counted_to {
            self.line.saturating_sub(count(position, self.counted_to))
        } else {
            self.line.saturating_add(count(self.counted_to, position))
        };
        self.counted_to = position;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_for_every_kind_of_line_end() {
        for text in ["a\nb\nc", "a\r\nb\r\nc", "a\rb\rc"] {
            let mut lines = Lines::new(text.as_bytes());
            assert_eq!(lines.at(text.as_bytes(), 0), 1, "{text:?}");
            assert_eq!(lines.at(text.as_bytes(), text.len() - 1), 3, "{text:?}");
            assert_eq!(lines.at(text.as_bytes(), 0), 1, "{text:?}");
        }
    }
}
