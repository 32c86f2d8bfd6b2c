//! Laws for every text: no panic, linear time, and no import found in plain text.

use coord_test_texts::pieces::piece;
use proptest::prelude::*;

use crate::language::Language;
use crate::specifier::Specifier;
use crate::{meter, scan};

/// Most bytes that a scan may read for each byte of the text: second readings and lookahead are allowed.
const READS_PER_BYTE: usize = 64;

/// Scans `text` and checks the laws of every result.
pub(super) fn checked(language: Language, text: &[u8]) -> Vec<Specifier> {
    meter::take();
    let found = scan(language, text);
    let bytes_read = meter::take();
    assert!(
        bytes_read <= READS_PER_BYTE * (text.len() + 64),
        "{language:?} read {bytes_read} bytes of {}: {}",
        text.len(),
        String::from_utf8_lossy(&text[..text.len().min(80)])
    );
    let line_breaks = text.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
    for specifier in &found {
        let line = usize::try_from(specifier.line).expect("a line fits");
        assert!((1..=line_breaks + 1).contains(&line), "{specifier:?}");
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_are_scanned_without_panic(text in proptest::collection::vec(any::<u8>(), 0..600)) {
        for language in Language::all() {
            checked(language, &text);
        }
    }

    #[test]
    fn any_pieces_of_code_are_scanned_in_linear_time(
        pieces in proptest::collection::vec(piece(), 0..12),
        repeat in 1_usize..200,
    ) {
        let text = pieces.concat().repeat(repeat);
        for language in Language::all() {
            checked(language, &text);
        }
    }

    #[test]
    fn any_mix_of_pieces_is_scanned_without_panic(pieces in proptest::collection::vec(piece(), 0..120)) {
        let text = pieces.concat();
        for language in Language::all() {
            checked(language, &text);
        }
    }

    #[test]
    fn the_unread_text_behind_the_last_word_has_no_import(pieces in proptest::collection::vec(piece(), 0..60)) {
        let text = pieces.concat();
        // In a text without line feeds, carriage returns end the lines.
        let line_end = if text.contains(&b'\n') { "\n" } else { "\r" };
        for (language, comment) in [
            (Language::JavaScript, "//import("),
            (Language::TypeScript, "//import("),
            (Language::TypeScriptJsx, "//import("),
            (Language::Python, "#import("),
        ] {
            // With the word at its end, the text is read up to the end.
            let whole = [&text, line_end.as_bytes(), comment.as_bytes()].concat();
            let shown = String::from_utf8_lossy(&text);
            prop_assert_eq!(checked(language, &text), checked(language, &whole), "{:?}: {}", language, shown);
        }
    }

    #[test]
    fn text_in_comments_and_literals_of_javascript_adds_no_import(pieces in proptest::collection::vec(piece(), 0..30)) {
        let text = String::from_utf8_lossy(&pieces.concat()).replace('\0', "");
        let line: String = text.chars().filter(|one| !"\n\r\u{2028}\u{2029}".contains(*one)).collect();
        let escaped = line.replace('\\', "\\\\");
        for inner in [
            format!("// {line}\n"),
            format!("/*! {} */", text.replace("*/", "* ")),
            format!("a = '{}'\n", escaped.replace('\'', "\\'")),
            format!("a = \"{}\"\n", escaped.replace('"', "\\\"")),
            format!("a = `{}`\n", text.replace('\\', "\\\\").replace('`', "\\`").replace("${", "$\\{")),
            format!("a = /x{}/g\n", escaped.replace(['[', ']'], "").replace('/', "\\/")),
        ] {
            for language in [Language::JavaScript, Language::TypeScript, Language::TypeScriptJsx] {
                assert_two_imports(language, &format!("import 'first'\n{inner};import 'last'"));
            }
        }
        let jsx = format!("a = <p>{}</p>", text.replace(['<', '{', '}', '>'], " "));
        let attribute = format!("a = <p b='{}' />", text.replace('\'', " "));
        for inner in [jsx, attribute] {
            for language in [Language::JavaScript, Language::TypeScriptJsx] {
                assert_two_imports(language, &format!("import 'first'\n{inner};import 'last'"));
            }
        }
    }

    #[test]
    fn text_in_comments_and_strings_of_python_adds_no_import(pieces in proptest::collection::vec(piece(), 0..30)) {
        let text = String::from_utf8_lossy(&pieces.concat()).replace('\0', "");
        let line: String = text.chars().filter(|one| !"\n\r".contains(*one)).collect();
        let escape = |text: &str, quote: char| text.replace('\\', "\\\\").replace(quote, &format!("\\{quote}"));
        for inner in [
            format!("# {line}"),
            format!("a = '{}'", escape(&line, '\'')),
            format!("a = b\"{}\"", escape(&line, '"')),
            format!("'''{}'''", escape(&text, '\'')),
            format!("rb\"\"\"{}\"\"\"", escape(&text, '"')),
            format!("a = f'{}'", escape(&line, '\'').replace('{', "{{").replace('}', "}}")),
            format!("a = rt'''{}'''", escape(&text, '\'').replace('{', "{{").replace('}', "}}")),
            format!("a = f'{{b:>{}}}'", escape(&line, '\'').replace(['{', '}', '\\', '\''], "")),
        ] {
            assert_two_imports(Language::Python, &format!("import first\n{inner}\nimport last"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn text_in_comments_and_literals_of_rust_adds_no_import(pieces in proptest::collection::vec(piece(), 0..30)) {
        let text = String::from_utf8_lossy(&pieces.concat()).replace('\0', "");
        let line: String = text.chars().filter(|one| !"\n\r".contains(*one)).collect();
        for inner in [
            format!("// {line}"),
            format!("/* /* {} */ */", text.replace(['*', '/'], " ")),
            format!("a = \"{}\";", text.replace('\\', "\\\\").replace('"', "\\\"")),
            format!("a = b\"{}\";", text.replace('\\', "\\\\").replace('"', "\\\"")),
            format!("a = r###\"{}\"###;", text.replace("\"###", " ")),
            format!("a = br\"{}\";", text.replace('"', " ")),
            format!("macro_rules! a {{ \"{}\" }}", text.replace('\\', "\\\\").replace('"', "\\\"")),
        ] {
            assert_two_imports(Language::Rust, &format!("mod first;\n{inner}\nmod last;"));
        }
    }

    #[test]
    fn code_after_the_imports_of_go_adds_none(pieces in proptest::collection::vec(piece(), 0..30)) {
        let text = String::from_utf8_lossy(&pieces.concat()).into_owned();
        assert_two_imports(Language::Go, &format!("package a\nimport \"first\"; import \"last\"\nvar a\n{text}"));
    }
}

fn assert_two_imports(language: Language, text: &str) {
    let found: Vec<_> = checked(language, text.as_bytes())
        .into_iter()
        .map(|specifier| specifier.text)
        .collect();
    assert_eq!(found, ["first", "last"], "{language:?}: {text}");
}
