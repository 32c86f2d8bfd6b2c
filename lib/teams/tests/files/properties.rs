//! Laws of reading and writing, for files of any content.

use coord_teams::message::InboxFile;
use coord_teams::task::TaskFile;
use coord_teams::time::Time;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::sync::{handle, task, team};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((".{0,4}", inner), 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn time() -> impl Strategy<Value = String> {
    let parts = (
        0..10_000u32,
        1..13u32,
        1..29u32,
        0..24u32,
        0..60u32,
        0..60u32,
        "(\\.[0-9]{1,9})?",
    );
    parts.prop_map(|(year, month, day, hour, minute, second, fraction)| {
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
    })
}

/// A task with members that are not ours, in any order.
fn any_task() -> impl Strategy<Value = Vec<(String, Value)>> {
    let status = prop_oneof![Just("pending"), Just("in_progress"), Just("completed")];
    let known = (
        status,
        time(),
        option::of(".*"),
        option::of(".*"),
        option::of(vec("[a-z]{1,3}", 0..4)),
    );
    let unknown = vec(("x.{0,5}", any_json()), 0..4);
    let members = (known, unknown).prop_map(|((status, created, title, owner, blocks), unknown)| {
        let mut members = vec![
            ("id".to_owned(), json!("t1")),
            ("status".to_owned(), json!(status)),
            ("createdAt".to_owned(), json!(created)),
        ];
        members.extend(title.map(|title| ("title".to_owned(), json!(title))));
        members.extend(owner.map(|owner| ("owner".to_owned(), json!(owner))));
        members.extend(blocks.map(|blocks| ("blocks".to_owned(), json!(blocks))));
        for (name, value) in unknown {
            if members.iter().all(|(there, _)| *there != name) {
                members.push((name, value));
            }
        }
        members
    });
    members.prop_shuffle()
}

fn text(members: &[(String, Value)]) -> String {
    let members = members.iter().map(|(name, value)| format!("{}:{value}", json!(name)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

fn names(text: &str) -> Vec<String> {
    // The order that serde_json would lose.
    let lines = text.lines().filter(|line| line.starts_with("  \""));
    lines
        .map(|line| line.split("\": ").next().unwrap_or_default().trim().to_owned())
        .collect()
}

proptest! {
    #[test]
    fn a_file_is_written_as_it_was_read(members in any_task()) {
        let read = |text: &str| TaskFile::parse(&team("alpha"), &task("t1"), text.as_bytes());
        let compact = text(&members);
        let file = read(&compact).unwrap();
        let written = file.render();
        prop_assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), serde_json::from_str::<Value>(&compact).unwrap());
        prop_assert!(!written.ends_with('\n'));
        let again = read(&written).unwrap();
        prop_assert_eq!(again.render(), &*written);
        prop_assert_eq!(again.task(), file.task());
    }

    #[test]
    fn a_change_changes_its_member_alone(members in any_task(), title in ".*", warning in option::of(".*")) {
        let file = TaskFile::parse(&team("alpha"), &task("t1"), text(&members).as_bytes()).unwrap();
        let mut changed = file.task().clone();
        (changed.title, changed.warning) = (title, warning);
        let written = file.with(changed.clone());
        prop_assert_eq!(written.task(), &changed);
        let again = TaskFile::parse(&team("alpha"), &task("t1"), written.render().as_bytes()).unwrap();
        prop_assert_eq!(again.task(), &changed);
        let kept = |text: String| {
            let mut value: Value = serde_json::from_str(&text).unwrap();
            value.as_object_mut().unwrap().retain(|name, _| name != "title" && name != "warning");
            value
        };
        prop_assert_eq!(kept(written.render()), kept(file.render()));
        // Existing entries have kept their order.
        let before = names(&file.render());
        let after: Vec<_> = names(&written.render()).into_iter().filter(|name| before.contains(name)).collect();
        prop_assert_eq!(after, before);
        // There and back.
        let back = written.with(file.task().clone());
        prop_assert_eq!(back.task(), file.task());
    }

    #[test]
    fn no_file_makes_the_reader_panic(bytes in vec(any::<u8>(), 0..200), value in any_json()) {
        let (alpha, lead) = (team("alpha"), handle("lead"));
        let _ = InboxFile::parse(&alpha, &lead, &bytes);
        let text = json!([value]).to_string();
        let _ = InboxFile::parse(&alpha, &lead, text.as_bytes());
        let _ = TaskFile::parse(&alpha, &task("t1"), text.as_bytes());
    }

    #[test]
    fn times_order_as_their_parts_do(one in time(), other in time()) {
        let key = |text: &str| {
            let (seconds, fraction) = text[..text.len() - 1].split_at(19);
            (seconds.to_owned(), format!("{:0<9}", fraction.trim_start_matches('.')))
        };
        let (parsed, others) = (Time::parse(&one).unwrap(), Time::parse(&other).unwrap());
        prop_assert_eq!(parsed.cmp(&others), key(&one).cmp(&key(&other)));
    }
}
