//! How often may be asked, over HTTP.

use std::time::{Duration, Instant};

use coord::store::scripts::Rates;
use serde_json::json;

use crate::cloud::{Answer, Cloud, jwt};
use crate::people::person;

fn check_limited(answer: &Answer) {
    assert_eq!(
        (answer.error(), answer.action()),
        ((429, "RATE_LIMITED"), "WAIT"),
        "{answer:?}"
    );
    assert_eq!(answer.body["orchestration"]["type"], "orchestration_command");
    let retry_after: i64 = answer.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&retry_after), "{answer:?}");
    assert_eq!(answer.body["orchestration"]["metadata"]["retry_after"], retry_after);
}

#[tokio::test]
async fn who_asks_too_often_waits_and_others_go_on() {
    let cloud = Cloud::start(&[]).await;
    // Two at once, and then one each ten seconds.
    let instance = cloud.instance(&[("COORD_LIMIT_HOLDER_PER_MINUTE", "6")]).await;
    let other = cloud.instance(&[("COORD_LIMIT_HOLDER_PER_MINUTE", "6")]).await;
    for _ in 0..2 {
        assert_eq!(instance.check(&jwt("ann"), json!({})).await.status, 200);
    }
    cloud.fake.seen();
    let before = cloud.all_but_limits().await;
    for instance in [&instance, &other] {
        check_limited(&instance.check(&jwt("ann"), json!({})).await);
        check_limited(&instance.post(&jwt("ann"), json!({})).await);
        let graph = instance.graph(&jwt("ann")).await;
        assert_eq!(graph.error(), (429, "RATE_LIMITED"), "{graph:?}");
        assert!(graph.body.get("orchestration").is_none(), "for people");
    }
    assert_eq!(cloud.all_but_limits().await, before);
    assert_eq!(cloud.fake.asked(), Vec::<String>::new());
    for (login, agent) in [("bob", ""), ("ann", "second")] {
        let more = if agent.is_empty() {
            json!({})
        } else {
            json!({"agent_id": agent})
        };
        assert_eq!(other.check(&jwt(login), more).await.status, 200, "{login} {agent}");
    }
}

#[tokio::test]
async fn a_token_of_githubs_is_limited_as_well() {
    let alice = person("ghp_", "alice", Some("push"));
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let instance = cloud.instance(&[("COORD_LIMIT_HOLDER_PER_MINUTE", "6")]).await;
    for _ in 0..2 {
        assert_eq!(instance.check(&alice.token, json!({})).await.status, 200);
    }
    check_limited(&instance.check(&alice.token, json!({})).await);
}

#[tokio::test]
async fn a_loop_that_runs_away_is_held_up_within_seconds() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let started = Instant::now();
    let mut let_in = 0;
    let limited = loop {
        let answer = instance.check(&jwt("ann"), json!({})).await;
        if answer.status != 200 {
            break answer;
        }
        let_in += 1;
        assert!(started.elapsed() < Duration::from_secs(20), "{let_in} were let in");
    };
    check_limited(&limited);
    assert!(let_in >= 100, "{let_in}");
    assert_eq!(instance.check(&jwt("bob"), json!({})).await.status, 200);
    // A second later there is room for some again.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    assert_eq!(instance.check(&jwt("ann"), json!({})).await.status, 200);
}

#[test]
fn ten_busy_agents_never_meet_a_limit() {
    let rates = Rates::default();
    // One question a second of each is slower than what is worked off.
    assert!(rates.holder.interval_ms < 1_000 && rates.holder.burst >= 10);
    assert!(rates.repository.interval_ms * 10 < 1_000 && rates.repository.burst >= 10);
    // An hour of it by the algorithm of `limits.lua`, all ten at the same instant and also twice in each.
    for (rate, at_once) in [(rates.holder, 2), (rates.repository, 20)] {
        let (interval, burst) = (u64::from(rate.interval_ms), u64::from(rate.burst));
        let mut worked_off = 0;
        for second in 1..=3_600 {
            let now = second * 1_000;
            for _ in 0..at_once {
                worked_off = u64::max(worked_off, now) + interval;
                assert!(worked_off - now <= interval * burst, "second {second}");
            }
        }
    }
}

#[tokio::test]
async fn all_together_have_a_limit_too() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[("COORD_LIMIT_REPOSITORY_PER_MINUTE", "12")]).await;
    let mut statuses = Vec::new();
    for number in 0..6 {
        let answer = instance.check(&jwt(&format!("agent{number}")), json!({})).await;
        if answer.status != 200 {
            check_limited(&answer);
            assert!(
                answer.body["message"].as_str().unwrap().contains("all callers"),
                "{answer:?}"
            );
        }
        statuses.push(answer.status);
    }
    assert_eq!(statuses, [200, 200, 200, 200, 429, 429]);
}

#[tokio::test]
async fn nought_is_no_limit() {
    let cloud = Cloud::start(&[]).await;
    let off = [
        ("COORD_LIMIT_HOLDER_PER_MINUTE", "0"),
        ("COORD_LIMIT_REPOSITORY_PER_MINUTE", "0"),
    ];
    let instance = cloud.instance(&off).await;
    let token = jwt("ann");
    for _ in 0..5 {
        let asking = (0..50).map(|_| instance.check(&token, json!({})));
        for answer in futures::future::join_all(asking).await {
            assert_eq!(answer.status, 200, "{answer:?}");
        }
    }
    let keys = cloud.keys().await;
    let limits: Vec<&String> = keys.iter().filter(|key| key.starts_with("coord:limit:")).collect();
    assert!(limits.iter().all(|key| key.ends_with(":new")), "{limits:?}");
}

#[tokio::test]
async fn tokens_that_are_tried_one_after_another_meet_a_limit_and_those_who_are_known_do_not() {
    let alice = person("ghp_", "alice", Some("push"));
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let instance = cloud.instance(&[]).await;
    assert_eq!(instance.check(&alice.token, json!({})).await.status, 200);
    cloud.fake.seen();
    let mut limited = 0;
    for number in 0..170 {
        let answer = instance.check(&format!("ghp_{number:0>40}"), json!({})).await;
        match answer.status {
            401 => {}
            _ => {
                check_limited(&answer);
                limited += 1;
            }
        }
    }
    assert!(limited >= 20, "{limited}");
    assert!(cloud.fake.seen().len() <= 2 * (170 - limited));
    assert_eq!(instance.check(&alice.token, json!({})).await.status, 200);
    check_limited(&instance.check(&jwt("ann"), json!({"branch": "new"})).await);
}

#[tokio::test]
async fn a_value_that_is_not_taken_puts_functions_out_of_action_and_is_named() {
    let alice = person("ghp_", "alice", Some("push"));
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    for (variable, value) in [
        ("COORD_LIMIT_HOLDER_PER_MINUTE", "-1"),
        ("COORD_LIMIT_HOLDER_PER_MINUTE", "often"),
        ("COORD_LIMIT_REPOSITORY_PER_MINUTE", "60001"),
        ("COORD_LIMIT_REPOSITORY_PER_MINUTE", "1.5"),
        ("COORD_HEAD_TTL_SECONDS", "0"),
        ("COORD_HEAD_MAX_AGE_SECONDS", "9"),
        ("GITHUB_API_URL", "http://example.com"),
    ] {
        for more in [&[(variable, value)][..], &[(variable, value), ("COORD_JWT_SECRET", "")]] {
            let instance = cloud.instance(more).await;
            let mut answers = vec![
                instance.check(&alice.token, json!({})).await,
                instance.post(&alice.token, json!({})).await,
                instance.graph(&alice.token).await,
            ];
            if more.len() == 1 {
                answers.push(instance.check(&jwt("ann"), json!({})).await);
            }
            for answer in answers {
                assert_eq!(answer.status, 503, "{variable}={value}: {answer:?}");
                let message = answer.body["message"].as_str().unwrap();
                assert!(message.contains(variable), "{variable}={value}: {message}");
            }
        }
    }
    assert_eq!(cloud.fake.asked(), Vec::<String>::new());
}
