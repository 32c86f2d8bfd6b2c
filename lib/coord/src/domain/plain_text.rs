/// `text` as one line, without characters that control a terminal or change the direction of text.
pub fn plain_text(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if !is_unseen(character) {
            line.push(character);
        } else if character.is_whitespace() && !line.ends_with(' ') {
            // Words on two lines stay two words.
            line.push(' ');
        }
    }
    line.trim().to_owned()
}

/// Whether `text` has no invisible characters, and of control characters tabs and line ends alone.
pub fn is_plain_text(text: &str) -> bool {
    text.chars()
        .all(|character| matches!(character, '\t' | '\n' | '\r') || !is_unseen(character))
}

/// Whether a character controls a terminal, changes the direction of text, or is invisible in another way: joiners, fillers, and tags, which
/// a model reads as the letters that they stand for. Variation selectors, which emoji have, are not among them.
pub(super) fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{17b4}'
                | '\u{17b5}'
                | '\u{180e}'
                | '\u{3164}'
                | '\u{ffa0}'
        )
        || matches!(character, '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_one_plain_line() {
        for (text, expected) in [
            ("", ""),
            (" Rewriting\r\nthe\tparser ", "Rewriting the parser"),
            ("a\u{1b}[31mb\u{0}\u{85}c", "a[31mb c"),
            ("x\u{202e}gpj.exe\u{2066}\u{200b}\u{feff}", "xgpj.exe"),
            ("größe 名前", "größe 名前"),
            ("to\u{ad}ken\u{3164}s \u{e0069}\u{e0067}", "tokens"),
            ("❤\u{fe0f}", "❤\u{fe0f}"),
        ] {
            assert_eq!(plain_text(text), expected, "{text:?}");
        }
    }
}
