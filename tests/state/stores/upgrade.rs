//! A store that an earlier version has written, with locks, a ticket, a graph, a team and an intent in it: this version goes on with all of
//! them, and what it writes has the same form, so that servers of both versions work side by side.
//!
//! `upgrade.json` has the commands that make its keys, as commit 39b6e8c5 wrote them.

use std::collections::BTreeSet;

use coord_domain::LockMode::Writing;
use coord_store::{Request, Value};
use serde::Deserialize;
use serde_json::Value as Json;

use super::gate::intent;
use super::neighbors::store_graph;
use super::teams::files::with_files;
use crate::world::team::{claimed, titled};
use crate::world::{HEAD, World};

#[derive(Deserialize)]
struct Written {
    /// The clock of its store, Unix seconds.
    written_at: u64,
    commands: Vec<Vec<String>>,
}

/// `text` with each time of the last day before `written_at`, or the next, as much later as now is: seconds, milliseconds and tenths of
/// those (tokens) are told by their digits.
fn moved(text: &str, written_at: u64, now: u64) -> String {
    const DAY: u64 = 86_400;
    let (mut moved, mut rest) = (String::new(), text);
    while let Some(first) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, from) = rest.split_at(first);
        let digits = from.len() - from.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let (number, after) = from.split_at(digits);
        let unit = match digits {
            10 => 1,
            13 => 1_000,
            14 => 10_000,
            _ => 0,
        };
        let time = number.parse::<u64>().ok().filter(|_| unit > 0);
        let time = time.filter(|time| (time / unit).abs_diff(written_at) < DAY);
        moved += before;
        moved += &time.map_or(number.to_owned(), |time| (time + (now - written_at) * unit).to_string());
        rest = after;
    }
    moved + rest
}

async fn load(world: &World) {
    let written: Written = serde_json::from_str(include_str!("upgrade.json")).unwrap();
    let now = world.now().await.cast_unsigned();
    for command in written.commands {
        let words = command.iter().map(|word| {
            let word = word.replace("REPO", world.repo.as_str());
            moved(&word, written.written_at, now).into_bytes()
        });
        let reply = world.store.run(vec![Request::Command(words.collect())]).await.unwrap();
        assert!(!matches!(reply[0], Value::Error(_)), "{reply:?}");
    }
}

async fn locks_of_the_version_before_hold_and_are_renewed_and_released(world: World) {
    load(&world).await;
    world.assert_counts_are_exact().await;
    let bob = world.agent("bob/two");
    assert_eq!(bob.finds(Writing, &["src/a.ts"]).await, ["DIRECT! src/a.ts ann"]);
    let beside = bob.finds(Writing, &["src/b.ts"]).await;
    assert_eq!(beside, ["NEIGHBOR! src/a.ts ann via src/b.ts"], "the graph is read");
    let ann = world.agent("ann/one");
    let renewed = ann.writes(&["src/a.ts"]).await;
    assert_eq!(renewed.held.len(), 1);
    assert_eq!(ann.abandons(&["src/a.ts"]).await.released, ["src/a.ts"]);
    // Cyd was refused before, and its ticket counts.
    assert!(!bob.is_refused(Writing, &["src/a.ts"]).await.findings.is_empty());
    world.agent("cyd").writes(&["src/a.ts"]).await;
    world.assert_counts_are_exact().await;
}

async fn a_team_of_the_version_before_keeps_working(world: World) {
    load(&world).await;
    let [lead, bob, cyd] = ["lead", "bob", "cyd"].map(|name| world.mate(name, "alpha"));
    let team = lead.shows_team().await.unwrap();
    assert_eq!(team.members.len(), 3);
    let waits = cyd.waits().await;
    assert!(waits.shutdown.is_some(), "it was asked to stop: {waits:?}");
    let inbox = bob.reads(None).await.unwrap();
    assert_eq!(inbox.messages.len(), 1);
    let renewed = bob.claims("t1").await.unwrap();
    assert!(renewed.is_renewal);
    bob.completes("t1").await.unwrap();
    assert_eq!(claimed(bob.takes_next().await.unwrap()).task.task.id, "t2");
    assert_eq!(lead.adds(&[titled("New")]).await.unwrap(), ["t4"]);
}

async fn intents_of_the_version_before_own_their_files(world: World) {
    load(&world).await;
    let refused = world.agent("bob").is_refused_by_gate(&["src/db/x.ts"]).await;
    assert_eq!(refused, ["FILE_OWNED db src/db/x.ts"]);
    let eve = world.agent("eve").citing("db");
    eve.writes(&["src/db/x.ts"]).await;
    eve.writes(&["src/db/y.ts"]).await;
}

/// Repeats the acts of the earlier version before it wrote `upgrade.json`.
async fn does_the_same(world: &World) {
    store_graph(world, &[("src/a.ts", &["src/b.ts"]), ("src/c.ts", &["src/a.ts"])]).await;
    world.records_head(HEAD, &[HEAD]).await;
    let agent = |name| world.agent(name).for_seconds(3000);
    agent("ann/one")
        .with_message("Moving the parser")
        .writes(&["src/a.ts"])
        .await;
    agent("bob/two").reads(&["docs/x.md"]).await;
    world.agent("cyd").is_refused(Writing, &["src/a.ts"]).await;
    agent("dan").writes(&["old.ts"]).await;
    world.agent("dan").abandons(&["old.ts"]).await;
    let (lead, [bob, cyd]) = world.team_of(["bob", "cyd"]).await;
    let tests = with_files("Write the tests", &["tests/t.ts"]);
    lead.adds(&[titled("Move the parser"), tests, titled("Release it")])
        .await
        .unwrap();
    bob.claims_for("t1", 3000).await.unwrap();
    lead.sends_text(&["bob", "cyd"], "Begin with the parser").await.unwrap();
    cyd.reads(None).await.unwrap();
    lead.requests_shutdown(Some("cyd"), 600).await.unwrap();
    world.begins(intent("db", "src/db/**", Some(50))).await;
    agent("eve").citing("db").writes(&["src/db/x.ts"]).await;
}

/// The form of a stored text: JSON without the order of its fields, and `#` for each number.
fn form(text: &str) -> String {
    let json = text
        .starts_with(['{', '['])
        .then(|| serde_json::from_str::<Json>(text).ok());
    let text = json.flatten().map_or(text.to_owned(), |json| json.to_string());
    let (mut form, mut is_number) = (String::new(), false);
    for letter in text.trim_end().chars() {
        if !letter.is_ascii_digit() {
            form.push(letter);
        } else if !is_number {
            form.push('#');
        }
        is_number = letter.is_ascii_digit();
    }
    form
}

/// The forms of what `command` stores: each field of a hash by itself, and the members of a sorted set without their scores.
fn forms(command: &[String]) -> Vec<String> {
    let [kind, key, words @ ..] = command else {
        panic!("{command:?}")
    };
    let forms: Vec<String> = words.iter().map(|word| form(word)).collect();
    let of_pair = |pair: &[String]| format!("{kind} {key} {}", pair.join(" = "));
    match kind.as_str() {
        "ZADD" => forms
            .chunks(2)
            .map(|pair| format!("{kind} {key} {}", pair[1]))
            .collect(),
        "XADD" => forms[1..].chunks(2).map(of_pair).collect(),
        "HSET" => forms.chunks(2).map(of_pair).collect(),
        _ => vec![of_pair(&forms)],
    }
}

fn texts(reply: Value) -> Vec<String> {
    let Value::Array(items) = reply else {
        panic!("{reply:?}")
    };
    items.into_iter().map(text).collect()
}

fn text(value: Value) -> String {
    match value {
        Value::Int(number) => number.to_string(),
        other => other.as_str().unwrap_or_else(|| panic!("{other:?}")).to_owned(),
    }
}

async fn records_keep_the_form_of_the_version_before(world: World) {
    does_the_same(&world).await;
    let written: Written = serde_json::from_str(include_str!("upgrade.json")).unwrap();
    let expected: BTreeSet<String> = written.commands.iter().flat_map(|command| forms(command)).collect();
    let mut found = BTreeSet::new();
    let keys: BTreeSet<_> = written
        .commands
        .iter()
        .map(|command| (&command[0], &command[1]))
        .collect();
    for (kind, name) in keys {
        let key = name.replace("REPO", world.repo.as_str());
        let words = match kind.as_str() {
            "SET" => vec![text(world.command(["GET", &key]).await)],
            "HSET" => texts(world.command(["HGETALL", &key]).await),
            "ZADD" => {
                let members = texts(world.command(["ZRANGE", &key, "0", "-1"]).await);
                members
                    .into_iter()
                    .flat_map(|member| ["0".to_owned(), member])
                    .collect()
            }
            _ => {
                let Value::Array(entries) = world.command(["XRANGE", &key, "-", "+"]).await else {
                    panic!("no stream")
                };
                for entry in entries {
                    let Value::Array(entry) = entry else { panic!("no entry") };
                    let fields = texts(entry[1].clone());
                    let command = [vec![kind.clone(), name.clone(), "0".to_owned()], fields].concat();
                    found.extend(
                        forms(&command)
                            .iter()
                            .map(|form| form.replace(world.repo.as_str(), "REPO")),
                    );
                }
                continue;
            }
        };
        let words = words.iter().map(|word| word.replace(world.repo.as_str(), "REPO"));
        let command: Vec<String> = [kind.clone(), name.clone()].into_iter().chain(words).collect();
        found.extend(forms(&command));
    }
    // The answers to repeated releases have another form, under another digest of the request: neither version reads the other's.
    let is_compared = |form: &&String| !form.starts_with("HSET coord:releases:");
    // Events of releases say since this version whether the push was proved; a version before ignores the field.
    let found: BTreeSet<String> = found
        .iter()
        .map(|form| form.replace(r#""is_pushed":false,"#, ""))
        .collect();
    let lost: Vec<_> = expected.difference(&found).filter(is_compared).collect();
    let new: Vec<_> = found.difference(&expected).filter(is_compared).collect();
    assert!(lost.is_empty() && new.is_empty(), "lost {lost:#?}, new {new:#?}");
}

#[test]
fn times_are_moved_and_nothing_else() {
    let text =
        r#"{"time":1795842231,"ms":1795842231402,"token":17958422314020,"n":50} 1795842231402-0 aaaa1111 1111111111"#;
    let later =
        r#"{"time":1795842331,"ms":1795842331402,"token":17958423314020,"n":50} 1795842331402-0 aaaa1111 1111111111"#;
    assert_eq!(moved(text, 1_795_842_231, 1_795_842_331), later);
}

on_every_store!(
    locks_of_the_version_before_hold_and_are_renewed_and_released,
    a_team_of_the_version_before_keeps_working,
    intents_of_the_version_before_own_their_files,
    records_keep_the_form_of_the_version_before,
);
