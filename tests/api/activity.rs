//! `GET /api/activity`. Its limits and its credentials are those of `GET /api/locks`, in whose tests they are.

use std::sync::Arc;

use coord_protocol::client::ActivityFilter;
use coord_protocol::{ActivityResponse, Client, Event};
use coord_server::app::App;
use coord_store::TimedStore;
use coord_store::redis::RedisStore;
use coord_test_support::real_redis::RealRedis;
use insta::assert_snapshot;
use serde_json::json;

use crate::api::{ACTIVITY, Api, REPO_URL};

async fn activity(api: &Api, query: &str) -> ActivityResponse {
    let answer = api.get(&format!("{ACTIVITY}{query}"), &[]).await;
    serde_json::from_value(answer.expect("200")).unwrap()
}

/// Each event as `type first-file`.
fn lines(response: &ActivityResponse) -> Vec<String> {
    let line = |event: &coord_protocol::PublishedEvent| {
        let json = serde_json::to_value(event).unwrap();
        let file = json["files"][0].as_str().unwrap_or("-");
        format!("{} {file}", json["type"].as_str().unwrap())
    };
    response.events.iter().map(line).collect()
}

/// The users of events, each the grant of a lock.
fn users(response: &ActivityResponse) -> Vec<String> {
    let user = |event: &coord_protocol::PublishedEvent| match &event.event {
        Event::LockGranted(change) => change.user.clone(),
        other => panic!("{other:?}"),
    };
    response.events.iter().map(user).collect()
}

fn client(api: &Api) -> Client {
    Client::new(&format!("http://{}", api.address), None, None).unwrap()
}

#[tokio::test]
async fn the_newest_come_first_and_those_after_one_in_their_order() {
    let api = Api::start().await;
    let nothing = activity(&api, "").await;
    assert_eq!((nothing.events.len(), nothing.cursor.as_str()), (0, "0-0"));
    for path in ["README.md", "src/db.ts", "src/page.ts"] {
        api.claim("ann", "WRITING", &[path]).await;
    }
    let newest = activity(&api, "").await;
    let mut granted = [
        "lock_granted src/page.ts",
        "lock_granted src/db.ts",
        "lock_granted README.md",
    ];
    let of_locks = |response: &ActivityResponse| -> Vec<String> {
        let lines = lines(response).into_iter();
        lines.filter(|line| line.starts_with("lock_")).collect()
    };
    assert_eq!(of_locks(&newest), granted);
    assert_eq!(newest.events[0].id.as_ref(), Some(&newest.cursor));
    let two = activity(&api, "&limit=2").await;
    assert_eq!(lines(&two), granted[..2]);
    assert_eq!(two.cursor, newest.cursor);
    let all = activity(&api, &format!("&after={}", nothing.cursor)).await;
    granted.reverse();
    assert_eq!(of_locks(&all), granted);
    assert_eq!(all.cursor, newest.cursor);
    let none = activity(&api, &format!("&after={}", newest.cursor)).await;
    assert_eq!(
        (none.events.len(), &none.cursor, none.is_cut),
        (0, &newest.cursor, false)
    );
}

#[tokio::test]
async fn a_client_follows_by_the_cursor_and_misses_nothing() {
    let api = Api::start().await;
    let client = client(&api);
    let mut filter = ActivityFilter {
        limit: Some(1),
        ..ActivityFilter::default()
    };
    filter.after = Some(client.activity(REPO_URL, &filter).await.unwrap().cursor);
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    api.claim("bob", "READING", &["README.md"]).await;
    let mut seen = Vec::new();
    loop {
        let response = client.activity(REPO_URL, &filter).await.unwrap();
        if response.events.is_empty() {
            break;
        }
        assert_eq!((response.events.len(), response.is_cut), (1, false));
        if let Event::LockGranted(change) = &response.events[0].event {
            seen.push(change.user.clone());
        }
        filter.after = Some(response.cursor);
    }
    assert_eq!(seen, ["ann", "bob"]);
}

#[tokio::test]
async fn events_of_other_branches_are_passed_over_and_not_read_again() {
    let api = Api::start().await;
    api.git.git(&["branch", "other"]);
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    let before = activity(&api, "&branch=other").await;
    assert_eq!(before.events, []);
    let on_other = json!({ "branch": "other" });
    api.granted("bob", "WRITING", &["src/db.ts"], on_other).await;
    api.claim("cid", "READING", &["README.md"]).await;
    let other = activity(&api, &format!("&branch=other&after={}", before.cursor)).await;
    assert!(
        lines(&other).contains(&"lock_granted src/db.ts".to_owned()),
        "{other:?}"
    );
    assert!(other.events.iter().all(|event| event.event.branch() == Some("other")));
    assert_eq!(other.cursor, activity(&api, "&limit=1").await.cursor);
}

#[tokio::test]
async fn a_log_that_does_not_reach_back_is_marked_is_cut() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    let first = activity(&api, "").await.cursor;
    api.claim("ann", "WRITING", &["README.md"]).await;
    let after_first = async || activity(&api, &format!("&after={first}")).await;
    assert!(!after_first().await.is_cut);
    let log = coord_state::events::keys::status_log(&api.repo());
    api.command(["XTRIM", &log, "MAXLEN", "1"]).await;
    let cut = after_first().await;
    assert_eq!((lines(&cut).len(), cut.is_cut), (1, true));
    assert!(
        !activity(&api, "&after=0-0").await.is_cut,
        "from the start there is no more"
    );
    api.command(["DEL", &log]).await;
    let gone = after_first().await;
    assert_eq!((gone.events.len(), &gone.cursor, gone.is_cut), (0, &first, false));
}

/// On this server, and on one over `redis-server` where there is one.
async fn each_store(test: impl AsyncFn(Api)) {
    test(Api::start().await).await;
    let Some(redis) = RealRedis::start(&[]) else { return };
    let store = RedisStore::connect(&redis.url()).unwrap();
    let over_redis = |state: &mut App| state.store = TimedStore::over(Arc::new(store));
    test(Api::start_with(over_redis).await).await;
}

#[tokio::test]
async fn the_events_before_one_go_back_to_the_start() {
    each_store(async |api| {
        for path in ["README.md", "src/db.ts", "src/page.ts"] {
            api.claim("ann", "WRITING", &[path]).await;
        }
        let all = activity(&api, "").await;
        assert_eq!(all.earlier, None, "there is nothing earlier");
        let mut page = activity(&api, "&limit=1").await;
        let mut seen = page.events.clone();
        while let Some(before) = &page.earlier {
            assert_eq!(Some(before), seen.last().unwrap().id.as_ref());
            page = activity(&api, &format!("&limit=1&before={before}")).await;
            assert!(!page.is_cut);
            seen.append(&mut page.events);
        }
        assert_eq!(seen, all.events);
        // Of another branch there is none, and the whole log was looked at.
        let none = activity(&api, "&branch=other").await;
        assert_eq!((none.events, none.earlier), (vec![], None));
        // Between two milliseconds, where the store has to be asked for the greatest number of the earlier one.
        let newest = all.events[0].id.as_ref().unwrap();
        let (milliseconds, _) = newest.split_once('-').unwrap();
        let next = milliseconds.parse::<u64>().unwrap() + 1;
        for (before, events) in [
            (format!("{next}-0"), &all.events[..]),
            ("0-0".to_owned(), &[]),
            ("9999999999999999999-0".to_owned(), &all.events),
        ] {
            let page = activity(&api, &format!("&before={before}")).await;
            assert_eq!(page.events, events, "{before}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_file_has_the_events_that_name_it_in_either_direction() {
    each_store(async |api| {
        api.claim("ann", "READING", &["README.md", "src/db.ts"]).await;
        api.claim("bob", "READING", &["src/page.ts"]).await;
        api.claim("cid", "READING", &["src/db.ts"]).await;
        let newest = activity(&api, "&file=src/db.ts").await;
        assert_eq!(users(&newest), ["cid", "ann"]);
        assert_eq!(newest.cursor, activity(&api, "").await.cursor);
        let first = newest.events[0].id.as_ref().unwrap();
        for (query, expected) in [
            ("src/db.ts&after=0-0", &["ann", "cid"][..]),
            (&format!("src/db.ts&branch=main&before={first}"), &["ann"]),
            ("src/auth.ts", &[]),
            ("src/db.ts&branch=other", &[]),
        ] {
            let shown = activity(&api, &format!("&file={query}")).await;
            assert_eq!(users(&shown), expected, "{query}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_invalid_activity_query_gets_a_refusal_that_names_the_parameter() {
    let api = Api::start().await;
    let url = "repo_url=https://github.com/acme/shop.git";
    let mut lines = Vec::new();
    for query in [
        String::new(),
        format!("?{url}&branch="),
        format!("?{url}&after=yesterday"),
        format!("?{url}&after=1"),
        format!("?{url}&before=yesterday"),
        format!("?{url}&before=1-0&after=1-0"),
        format!("?{url}&before=1-0&before=1-0"),
        format!("?{url}&file="),
        format!("?{url}&file=../db.ts"),
        format!("?{url}&file=a.ts&file=b.ts"),
        format!("?{url}&limit=0"),
        format!("?{url}&limit=101"),
        format!("?{url}&limit=all"),
        format!("?{url}&limit=1&limit=2"),
        "?repo_url=https://github.com/acme/other".to_owned(),
    ] {
        let answer = api.get(&format!("/api/activity{query}"), &[]).await;
        lines.push(format!("{query}\n    {}", answer.refusal()));
    }
    assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn a_client_reads_the_graph_and_the_health() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    let around = coord_protocol::GraphFilter {
        focus: Some("src/auth.ts".to_owned()),
        depth: Some(1),
        direction: Some("imports".to_owned()),
    };
    let graph = client(&api).graph(REPO_URL, "main", &around).await.unwrap();
    assert_eq!(graph["edges"][0]["target"], "src/db.ts", "{graph}");
    assert_eq!(client(&api).health().await.unwrap()["status"], "ok");
}
