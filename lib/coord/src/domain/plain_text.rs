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

/// Whether a character controls a terminal, changes the direction of text, or is invisible in another way.
pub(super) fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
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
        ] {
            assert_eq!(plain_text(text), expected, "{text:?}");
        }
    }
}
