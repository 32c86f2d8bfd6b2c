use coord_intents::intent_map::{LastHash, Row, read, write};
use proptest::prelude::*;

const FACTS: &str = include_str!("facts_map.md");
const ORIGINAL: &str = include_str!("original_map.md");
const DAMAGED: &str = include_str!("damaged_map.md");
const POOL: &str = "5ca890bf2046006ced7f9a4f4e9449d7beb77fc868bba102d34c34fa715078e7";

fn row(path: &str, intent_id: &str, hash: LastHash, is_locked: bool) -> Row {
    Row {
        path: path.into(),
        intent_id: intent_id.into(),
        hash,
        is_locked,
    }
}

fn whole() -> LastHash {
    LastHash::Whole(POOL.into())
}

fn short(text: &str) -> LastHash {
    LastHash::Text(text.into())
}

#[test]
fn the_original_sample_is_read_and_written_byte_for_byte() {
    let rows = read(ORIGINAL);
    let (login, header) = ("src/auth/login.ts", "src/components/Header.tsx");
    assert_eq!(
        rows,
        [
            row(login, "intent-123", short("sha256:a1b2..."), true),
            row(header, "intent-456", short("sha256:c3d4..."), false),
        ]
    );
    assert!(!rows[0].hash.matches("a1b2..."), "a hash cut short proves nothing");
    assert_eq!(write("", &rows), ORIGINAL);
    assert_eq!(write(ORIGINAL, &rows), ORIGINAL);
}

#[test]
fn the_sample_of_the_facts_is_read_and_padded() {
    let rows = read(FACTS);
    assert_eq!(
        rows,
        [row("src/db.ts", "018f6a1c-7a52-7cc3-9a61-0d2b7c3e4f10", whole(), true)]
    );
    assert!(rows[0].hash.matches(POOL));
    let padded = "# Intent Map

| File Path   | Owning Intent ID                       | Last Hash                                                                 | Prov. Locked? |
| :---------- | :------------------------------------- | :------------------------------------------------------------------------ | :------------ |
| `src/db.ts` | `018f6a1c-7a52-7cc3-9a61-0d2b7c3e4f10` | `sha256:5ca890bf2046006ced7f9a4f4e9449d7beb77fc868bba102d34c34fa715078e7` | Yes           |
";
    assert_eq!(write(FACTS, &rows), padded);
    assert_eq!(write(padded, &rows), padded);
}

#[test]
fn a_map_without_files_is_the_documented_empty_map() {
    let empty = "# Intent Map\n\n_No intents have been mapped yet._\n";
    assert_eq!(write("", &[]), empty);
    assert_eq!(read(empty), []);
    assert_eq!(write(ORIGINAL, &[]), empty);
    assert_eq!(write(empty, &read(ORIGINAL)), ORIGINAL);
}

// rule: files#map
#[test]
fn the_damaged_map_of_a_real_day_is_read_right() {
    let rows = read(DAMAGED);
    let (first, second) = ("REQ-WEATHER-API-001", "REQ-WEATHER-API-002");
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let upper = format!("sha256:{}", POOL.to_uppercase());
    assert_eq!(
        rows,
        [
            row("app/main.py", first, whole(), true),
            row("app/models.py", first, short("sha256:a1b2c3d4..."), true),
            row("app/routes/weather.py", second, LastHash::Whole(empty.into()), true),
            row("app/cli.py", second, short("sha256:00000000"), false),
            row("app/[tenant]/page.tsx", second, LastHash::Deleted, false),
            row("README.md", second, short(&upper), true),
            row("requirements.txt", second, whole(), true),
            row("src/index.ts", "REQ-OLD-1", whole(), false),
            row("src/weather.ts", "REQ-OLD-1", short("sha256:a1b2..."), false),
        ]
    );
    assert_eq!(rows.iter().filter(|row| row.hash.matches(POOL)).count(), 3);
}

#[test]
fn the_prose_of_the_damaged_map_stays_byte_for_byte() {
    let rows = [row("app/main.py", "REQ-WEATHER-API-001", whole(), false)];
    let written = write(DAMAGED, &rows);
    let table = write("", &rows);
    let table = table.strip_prefix("# Intent Map\n\n").unwrap();
    let (before, rest) = DAMAGED.split_once("| `app/main.py`").unwrap();
    let after = &rest[rest.find("\n\n## REQ-OLD-1").unwrap() + 1..];
    assert_eq!(written, format!("{before}\n{table}{after}"));
    assert_eq!(write(&written, &rows), written);
}

#[test]
fn prose_around_the_table_and_line_endings_stay() {
    let rows = read(ORIGINAL);
    for (before, after) in [
        ("", ""),
        ("# Ours\n\nText.\n", "Text right below\n"),
        ("\u{feff}# Ours", ""),
        ("<!-- a -->\r\n", "\r\n| a | b |\r\n| - | - |\r\n"),
    ] {
        let written = write(&format!("{before}{after}"), &rows);
        assert_eq!(read(&written), rows, "{written}");
        assert_eq!(write(&written, &rows), written);
        assert!(written.contains(before) && written.contains(after), "{written}");
        assert_eq!(written.contains("\r\n"), before.contains('\r'));
        assert!(!written.replace("\r\n", "").contains('\r'));
    }
    let touching = format!("{ORIGINAL}Text right below\n");
    assert_eq!(write(&touching, &rows), format!("{ORIGINAL}\nText right below\n"));
}

// rule: files#map
#[test]
fn paths_that_a_cell_cannot_hold_are_written_so_that_it_can() {
    let cases = [
        ("a b.ts", "`a b.ts`"),
        ("a`b", "``a`b``"),
        ("a``b", "`a``b`"),
        ("`a", "`` `a ``"),
        ("a|b", "`a\\|b`"),
        ("a\\b", "`a\\b`"),
        ("a\\|b", "`\"a\\\\\\u007cb\"`"),
        ("a\nb", "`\"a\\u000ab\"`"),
        (" a", "`\" a\"`"),
        ("\"a\"", "`\"\\\"a\\\"\"`"),
        ("größe.ts", "`größe.ts`"),
        ("app/[slug]/page.tsx", "`app/[slug]/page.tsx`"),
        ("app/**/*_x_*", "`app/**/*_x_*`"),
    ];
    for (path, cell) in cases {
        let written = write("", &[row(path, "a", whole(), true)]);
        assert!(written.contains(&format!("\n| {cell} ")), "{path:?}: {written}");
        assert_eq!(read(&written), [row(path, "a", whole(), true)], "{written}");
    }
}

#[test]
fn rows_that_are_not_ours_are_prose() {
    for line in [
        "| a | b | c | Yes |",
        "| `a` | `b` | `c` | Maybe |",
        "| `a` | `b` | `c` |",
        "| `a` | `b c` | `sha256:1` | Yes |",
        "`a` | `b` | `c` | Yes",
        "| `\"a` | `b` | `c` | Yes |",
        "| `` | `b` | `c` | Yes |",
        "| `a`b` | `b` | `c` | Yes |",
    ] {
        assert_eq!(read(line), [], "{line}");
        let written = write(line, &read(ORIGINAL));
        assert!(written.starts_with(&format!("{line}\n\n|")), "{written}");
    }
}

fn any_rows() -> impl Strategy<Value = Vec<Row>> {
    let path = prop_oneof!["[ -~]{1,20}", "[a`|\\\\\"\n\t ]{1,8}", "\\PC{1,10}"];
    let hash = prop_oneof![Just(LastHash::Deleted), "[0-9a-f]{64}".prop_map(LastHash::Whole)];
    let others = ("[a-zA-Z0-9][a-z0-9._-]{0,10}", hash, any::<bool>());
    proptest::collection::btree_map(path, others, 0..6).prop_map(|rows| {
        let rows = rows.into_iter();
        rows.map(|(path, (intent_id, hash, is_locked))| row(&path, &intent_id, hash, is_locked))
            .collect()
    })
}

proptest! {
    #[test]
    fn written_values_are_read_again(rows in any_rows(), older in any_rows()) {
        let written = write("", &rows);
        prop_assert_eq!(&read(&written), &rows);
        prop_assert_eq!(&write(&written, &rows), &written);
        prop_assert_eq!(&write(&write("", &older), &rows), &written);
    }

    #[test]
    fn any_text_is_read_and_its_prose_stays(text in "([|`a\\\\ #-]{0,12}|\\PC{0,10}|```|~~~)(\r?\n([|`a\\\\ #-]{0,12}|\\PC{0,10}|```|## a: b)){0,8}", rows in any_rows()) {
        let written = write(&text, &rows);
        prop_assert_eq!(&write(&written, &rows), &written);
        if read(&text).is_empty() && !text.trim().is_empty() {
            let mut rest = written.as_str();
            for line in text.lines() {
                let at = rest.find(line);
                prop_assert!(at.is_some(), "{:?} is lost: {}", line, written);
                rest = &rest[at.unwrap_or_default() + line.len()..];
            }
        }
    }
}
