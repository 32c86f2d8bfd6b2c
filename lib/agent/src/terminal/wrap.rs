//! Breaks text into lines, at spaces.

use unicode_width::UnicodeWidthStr;

/// `text` in lines of at most `width` columns; escape sequences for colors take no columns. A longer word has its own
/// line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let columns = |word: &str| anstream::adapter::strip_str(word).to_string().width();
    let mut lines = vec![(String::new(), 0)];
    for word in text.split_whitespace() {
        let word_width = columns(word);
        match lines.last_mut() {
            Some((line, line_width)) if line.is_empty() => {
                line.push_str(word);
                *line_width = word_width;
            }
            Some((line, line_width)) if *line_width + 1 + word_width <= width => {
                line.push(' ');
                line.push_str(word);
                *line_width += 1 + word_width;
            }
            _ => lines.push((word.to_owned(), word_width)),
        }
    }
    lines.into_iter().map(|(line, _)| line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_wide_as_they_are_seen() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(
            wrap("\u{1b}[1mone\u{1b}[0m two three", 7),
            ["\u{1b}[1mone\u{1b}[0m two", "three"]
        );
        assert_eq!(wrap("日本 語", 5), ["日本", "語"]);
        assert_eq!(wrap("unbroken a", 4), ["unbroken", "a"]);
        assert_eq!(wrap("", 4), [""]);
    }
}
