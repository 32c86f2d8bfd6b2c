use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use coord_domain::RepoId;

fn id(digit: &str) -> String {
    digit.repeat(40)
}

fn payload() -> Value {
    json!({
        "ref": "refs/heads/feature/log-in", "before": id("1"), "after": id("3"), "created": false, "deleted": false,
        "forced": true, "commits": [{"id": id("2"), "message": "one"}, {"id": id("3"), "message": "two"}],
        "repository": {
            "id": 7, "full_name": "Acme/Shop", "html_url": "https://github.com/Acme/Shop", "pushed_at": 1_795_309_200,
        },
    })
}

/// The payload with the value at `pointer` replaced or removed.
fn with(pointer: &str, value: Option<Value>) -> Value {
    let mut payload = payload();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let fields = payload.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match value {
        Some(value) => fields.insert(name.to_owned(), value),
        None => fields.remove(name),
    };
    payload
}

fn parsed(payload: &Value) -> Result<Delivery, Invalid> {
    parse(payload.to_string().as_bytes(), "github.com")
}

fn push(payload: &Value) -> Push {
    match parsed(payload) {
        Ok(Delivery::Push(push)) => push,
        other => panic!("{other:?}: {payload}"),
    }
}

#[test]
fn a_push_has_its_repository_branch_commits_and_time() {
    let sha = |digit| CommitSha::parse(&id(digit)).unwrap();
    let expected = Push {
        repo: RepoId::parse("https://github.com/acme/shop").unwrap(),
        number: Some(7),
        branch: Branch::parse("feature/log-in").unwrap(),
        before: Some(sha("1")),
        after: Some(sha("3")),
        is_forced: true,
        commits: vec![sha("3"), sha("2")],
        pushed_at: 1_795_309_200,
    };
    assert_eq!(push(&payload()), expected);
    assert_eq!(push(&with("/before", Some(id("0").into()))).before, None);
    assert_eq!(push(&with("/after", Some(id("0").into()))).after, None);
    let long = "0".repeat(64);
    assert_eq!(push(&with("/before", Some(long.into()))).before, None);
    let written = json!("2026-11-22T02:00:00+01:00");
    assert_eq!(
        push(&with("/repository/pushed_at", Some(written))).pushed_at,
        1_795_309_200
    );
    assert_eq!(push(&with("/commits", None)).commits, []);
    assert_eq!(push(&with("/repository/id", None)).number, None);
    assert!(!push(&with("/forced", None)).is_forced);
    let escaped = payload().to_string().replace("Acme/Shop", "\\u0041cme\\/Shop");
    assert_eq!(parse(escaped.as_bytes(), "GitHub.com"), Ok(Delivery::Push(expected)));
}

#[test]
fn of_many_commits_the_newest_are_taken() {
    let commits: Vec<Value> = (0..2_048)
        .map(|number| json!({"id": format!("{number:040x}")}))
        .collect();
    let commits = push(&with("/commits", Some(commits.into()))).commits;
    assert_eq!(commits.len(), MAX_COMMITS);
    assert_eq!(commits[0].as_str(), format!("{:040x}", 2_047));
    assert_eq!(
        commits[MAX_COMMITS - 1].as_str(),
        format!("{:040x}", 2_048 - MAX_COMMITS)
    );
}

#[test]
fn a_push_to_a_tag_is_no_push() {
    for reference in [
        "refs/tags/v1",
        "refs/notes/x",
        "refs/pull/7/head",
        "main",
        "",
        "refs/headsmain",
    ] {
        let delivery = parsed(&with("/ref", Some(reference.into())));
        assert_eq!(delivery, Ok(Delivery::Other), "{reference}");
    }
}

#[test]
fn an_invalid_value_is_refused() {
    let mut hostile: Vec<(&str, Option<Value>)> = Vec::new();
    for name in [
        "refs/heads/",
        "refs/heads/a..b",
        "refs/heads/a b",
        "refs/heads/-x",
        "refs/heads/a\nb",
    ] {
        hostile.push(("/ref", Some(name.into())));
    }
    for field in [
        "/ref",
        "/before",
        "/after",
        "/repository/pushed_at",
        "/repository/html_url",
    ] {
        hostile.extend([(field, None), (field, Some(Value::Null)), (field, Some(json!([])))]);
        hostile.push((field, Some(json!("x".repeat(100_000)))));
    }
    // `ref` of another text is a ref that is not a branch.
    hostile
        .retain(|(field, value)| *field != "/ref" || value.as_ref().is_none_or(|value| value != &"x".repeat(100_000)));
    for commit in [
        "1234567",
        "HEAD",
        "",
        &"1".repeat(41),
        &"g".repeat(40),
        &format!(" {}", id("1")),
    ] {
        hostile.push(("/before", Some(commit.into())));
        hostile.push(("/after", Some(commit.into())));
        hostile.push(("/commits", Some(json!([{"id": commit}]))));
    }
    for commits in [json!(null), json!({}), json!([7]), json!([{}]), json!([{"id": null}])] {
        hostile.push(("/commits", Some(commits)));
    }
    for time in [
        json!(0),
        json!(-5),
        json!(1e300),
        json!(u64::MAX),
        json!(i64::MAX),
        json!("yesterday"),
        json!(true),
    ] {
        hostile.push(("/repository/pushed_at", Some(time)));
    }
    for url in [
        "https://gitlab.com/Acme/Shop",
        "https://github.com.example.com/Acme/Shop",
        "https://github.com@example.com/Acme/Shop",
        "https://github.com/Acme/Other",
        "https://github.com/Acme/Shop/more",
        "git@github.com:Acme/Shop",
        "javascript://github.com/Acme/Shop",
        "",
    ] {
        hostile.push(("/repository/html_url", Some(url.into())));
    }
    for name in [
        "Acme",
        "Acme/Shop/more",
        "Acme/../Shop",
        "Acme/Sh}op",
        "/Acme/Shop",
        "Other/Shop",
        "",
    ] {
        hostile.push(("/repository/full_name", Some(name.into())));
    }
    hostile.push(("/forced", Some(json!("yes"))));
    for (pointer, value) in hostile {
        let error = parsed(&with(pointer, value.clone())).map(|delivery| panic!("{pointer} {value:?}: {delivery:?}"));
        assert!(error.unwrap_err().0.len() < 1_000, "{pointer}");
    }
    let both = with("/before", Some(id("0").into()))
        .to_string()
        .replace(&id("3"), &id("0"));
    assert!(parse(both.as_bytes(), "github.com").is_err());
    // Names that agree, at another host than ours.
    assert!(parse(payload().to_string().as_bytes(), "git.example.com").is_err());
    let groups = payload().to_string().replace("Acme/Shop", "Acme/Web/Shop");
    assert!(parse(groups.as_bytes(), "github.com").is_err());
    let twice = payload().to_string().replacen('{', r#"{"ref": "refs/heads/main","#, 1);
    for text in [
        "",
        "null",
        "[]",
        "7",
        "\u{feff}{}",
        &twice,
        &"[".repeat(100_000),
        &"{\"ref\":".repeat(100_000),
    ] {
        assert!(parse(text.as_bytes(), "github.com").is_err(), "{text:.40}");
    }
}

proptest! {
    #[test]
    fn a_damaged_delivery_is_of_this_host_or_refused(
        damages in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        length in any::<prop::sample::Index>(),
    ) {
        let mut text = payload().to_string().into_bytes();
        for (place, byte) in &damages {
            let place = place.index(text.len());
            text[place] = *byte;
        }
        if length.index(4) == 0 {
            text.truncate(length.index(text.len()));
        }
        if let Ok(Delivery::Push(push)) = parse(&text, "github.com") {
            prop_assert!(push.repo.as_str().starts_with("github.com/"));
            prop_assert!(push.before.is_some() || push.after.is_some());
        }
    }
}
