//! The position of the last word that can begin an import. Scanners stop there: most files have all their imports at
//! the top, and searching for a few words takes a fraction of the time that reading tokens takes.

use aho_corasick::packed::Searcher;

use crate::meter;

/// Number of bytes of the first search, at the end of the text. Each further search covers twice as many, up to
/// [`LAST_STEP`].
const FIRST_STEP: usize = 512;
const LAST_STEP: usize = 16 * 1024;

/// Words, one of which every import contains. No two of them can overlap.
pub(super) struct Words {
    /// One search for all of them. `None` on processors without the required instructions.
    searcher: Option<Searcher>,
    /// The length of each word, and its predicate.
    words: Vec<(usize, ImportTest)>,
    longest: usize,
}

/// Whether a word may be an import, by the text after it.
type ImportTest = fn(&[u8]) -> bool;

impl Words {
    pub(super) fn new(words: &[(&'static str, ImportTest)]) -> Self {
        let patterns = words.iter().map(|(word, _)| word);
        Words {
            searcher: Searcher::new(patterns),
            words: words.iter().map(|(word, is_import)| (word.len(), *is_import)).collect(),
            longest: words.iter().map(|(word, _)| word.len()).max().unwrap_or_default(),
        }
    }

    /// The start of the last of the words in `text`; the end of the text where it cannot be searched.
    pub(super) fn last_in(&self, text: &[u8]) -> Option<usize> {
        let Some(searcher) = &self.searcher else {
            return Some(text.len());
        };
        let mut end = text.len();
        let mut step = FIRST_STEP;
        while end > 0 {
            let start = end.saturating_sub(step);
            // A word may reach from this part into the one searched before.
            let part = &text[start..text.len().min(end + self.longest)];
            meter::read(part.len());
            let imports = searcher.find_iter(part).filter(|word| {
                let (_, is_import) = self.words[word.pattern().as_usize()];
                is_import(&text[start + word.end()..])
            });
            if let Some(word) = imports.last() {
                return Some(start + word.start());
            }
            end = start;
            step = LAST_STEP.min(step * 2);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_found_at_every_position() {
        let words = Words::new(&[("import", |_| true), ("from", |after| after.starts_with(b" '"))]);
        let long = |gap: usize| format!("import a;{}import b;{}", " ".repeat(gap), " ".repeat(gap));
        for (text, last) in [
            ("", None),
            ("impor", None),
            ("a from b", None),
            ("import a from b", Some(0)),
            ("import a from 'b'", Some(9)),
            (&long(1), Some(10)),
        ] {
            assert_eq!(words.last_in(text.as_bytes()), last, "{} bytes", text.len());
        }
        // Across the boundaries of every step.
        for step in [FIRST_STEP, 3 * FIRST_STEP, LAST_STEP, 2 * LAST_STEP] {
            for gap in step - 20..step + 20 {
                assert_eq!(words.last_in(long(gap).as_bytes()), Some(9 + gap), "{gap}");
                let only = format!("import a;{}", " ".repeat(gap));
                assert_eq!(words.last_in(only.as_bytes()), Some(0), "{gap}");
            }
        }
    }
}
