//! All messages of Coord to a model, each in a typical case, with its tokens by `o200k_base`: the texts are the snapshots of this
//! folder, by audience, and the table is in the reference; `COORD_UPDATE_DOCS=1` rewrites it.

mod commands;
mod hooks;
mod tools;

use std::fmt::Write;
use std::process::Command;

use crate::hook::Session;
use crate::hook::looks::context;
use coord_test_support::waiting::block_until_served;
use coord_test_worlds::hook_forms::Answer;
use coord_test_worlds::world::World;

const ADA: &str = "claude-code-7f3a";
const BOB: &str = "claude-code-c21e";

/// In place of every hash, at its length.
const HASH: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

/// The messages of one audience, by name.
struct Messages {
    heading: &'static str,
    rows: Vec<(&'static str, String)>,
}

impl Messages {
    fn new(heading: &'static str) -> Messages {
        Messages {
            heading,
            rows: Vec::new(),
        }
    }

    fn add(&mut self, world: &World, name: &'static str, text: &str) {
        self.rows.push((name, steady(world, text)));
    }
}

/// Returns the text that a hook's answer gives the model: a denial, a text, or nothing.
fn given(session: &Session<'_>, answer: &Answer) -> String {
    let denial = session.denial(answer);
    denial
        .or_else(|| context(session.form, &answer.body))
        .or_else(|| answer.body["reason"].as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn shop() -> World {
    World::with(&[
        ("src/db.ts", "export const query = 1;\n"),
        ("src/page.ts", "import { query } from './db';\n"),
        ("src/auth.ts", "export const login = 1;\n"),
        ("README.md", "# Shop\n"),
    ])
}

fn write(world: &World, file: &str, content: &str) {
    std::fs::write(world.clone.path().join(file), content).unwrap();
}

/// `text` without what differs between machines: numbers, commits, login, and the folder of the test.
fn steady(world: &World, text: &str) -> String {
    let login = Command::new("id").arg("-un").output().unwrap().stdout;
    let login = String::from_utf8(login).unwrap().trim().to_owned();
    let mut text = text.replace(&*world.clone.path().to_string_lossy(), "/home/ada/shop");
    for (before, after) in [
        ("login ", ""),
        ("(", ""),
        ("", "/claude"),
        ("- ", " (claude"),
        ("by ", " (claude"),
        ("- ", " writes"),
        ("user '", "'"),
    ] {
        text = text.replace(&format!("{before}{login}{after}"), &format!("{before}ada{after}"));
    }
    // The graph is built meanwhile, sooner or later.
    let lines = text.split_inclusive('\n').filter(|line| !line.starts_with("GRAPH_"));
    let words = lines.flat_map(|line| line.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric()));
    words.map(steady_word).collect()
}

/// `text` with one digit for each number and one blank between columns: slow machines show longer times.
fn without_widths(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if !(matches!(character, '5' | ' ') && shown.ends_with(character)) {
            shown.push(character);
        }
    }
    shown
}

/// A word, with the character behind it.
fn steady_word(word: &str) -> String {
    let name = word.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
    let is_hash = name.len() >= 7 && name.chars().all(|letter| letter.is_ascii_hexdigit());
    if is_hash && name.len() <= HASH.len() && name.chars().any(|letter| letter.is_ascii_digit()) {
        return word.replace(name, &HASH[..name.len()]);
    }
    let five = |letter: char| if letter.is_ascii_digit() { '5' } else { letter };
    word.chars().map(five).collect()
}

/// The words of a command line; those in single quotes are one.
fn words(line: &str) -> Vec<&str> {
    let parts = line.split('\'').enumerate();
    let words = parts.flat_map(|(place, part)| match place % 2 {
        0 => part.split_whitespace().collect(),
        _ => vec![part],
    });
    words.collect()
}

/// Returns what `coord LINE` prints on both outputs, run by the agent `who`.
fn prints(world: &World, who: &str, line: &str) -> String {
    let mut command = world.coord(world.clone.path());
    let output = command.env("COORD_AGENT", who).args(words(line)).output().unwrap();
    let [out, errors] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{out}{errors}")
}

/// A shop whose graph is built.
fn served_shop() -> World {
    let world = shop();
    block_until_served("the graph is built", || {
        !prints(&world, ADA, "check README.md").contains("GRAPH_MISSING")
    });
    world
}

#[test]
fn the_reference_has_the_tokens_of_each_message_and_they_are_few() {
    let encoder = tiktoken_rs::o200k_base().unwrap();
    let count = |text: &String| encoder.encode_ordinary(text).len();
    let mut table = String::from("| from | message=tokens |\n|---|---|\n");
    let (mut denials, mut wrong) = (Vec::new(), Vec::new());
    for messages in [
        hooks::of_locks(),
        hooks::of_other_work(),
        hooks::of_teams(),
        hooks::of_intents(),
        tools::of_locks(),
        tools::offline(),
        tools::of_teams(),
        tools::of_opencode(),
        tools::of_intents(),
        commands::of_locks(),
        commands::of_teams(),
        commands::of_intents(),
    ] {
        let mut texts = String::new();
        // Those of one kind stand together.
        let mut kinds: Vec<(&str, Vec<String>)> = Vec::new();
        for (name, text) in &messages.rows {
            let tokens = count(text);
            writeln!(texts, "== {name}: {tokens}\n{}", without_widths(text.trim_end())).unwrap();
            let most = match *name {
                "edit, granted" | "after edit" | "prompt, no news" | "after tool, no news" => 0,
                "session start, nobody at work" => 0,
                "tools/list, locks alone" => 900,
                "tools/list, all" => 3000,
                "tools/list" => 1200,
                name if name.starts_with("session start") => 150,
                _ => 450,
            };
            if tokens > most || (tokens == 0 && most > 0) {
                wrong.push(format!("{}, {name}: {tokens}, at most {most}", messages.heading));
            }
            if messages.heading.starts_with("hooks") && text.contains(" Next: ") {
                denials.push(tokens);
            }
            let (kind, case) = name.split_once(", ").unwrap_or((name, ""));
            let cell = format!("{case}={tokens}").trim_start_matches('=').to_owned();
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, cells)) => cells.push(cell),
                None => kinds.push((kind, vec![cell])),
            }
        }
        insta::assert_snapshot!(messages.heading.replace(", ", "_").replace(' ', "-"), texts);
        let shown = |(kind, cells): &(&str, Vec<String>)| format!("{kind}: {}", cells.join(", "));
        let kinds: Vec<String> = kinds.iter().map(shown).collect();
        writeln!(table, "| {} | {} |", messages.heading, kinds.join("; ")).unwrap();
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    denials.sort_unstable();
    assert!(denials.len() >= 5 && denials[denials.len() / 2] <= 60, "{denials:?}");

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/messages.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once("<!-- tokens -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of tokens -->").unwrap();
    let wanted = format!("{before}<!-- tokens -->\n{table}<!-- end of tokens -->{after}");
    if std::env::var_os("COORD_UPDATE_DOCS").is_some() {
        std::fs::write(path, wanted).unwrap();
    } else {
        assert!(
            page == wanted,
            "the table differs: COORD_UPDATE_DOCS=1 cargo test --test agents message_costs\n{table}"
        );
    }
}
