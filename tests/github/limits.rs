//! How often may be asked, over HTTP.

use std::time::{Duration, Instant};

use coord_settings::Rates;
use serde_json::json;

use crate::cloud::{Answer, Cloud, jwt};
use crate::people::person;
use coord_test_support::github::Fault;
use coord_test_support::waiting::until;

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
async fn a_caller_above_its_limit_waits_and_others_continue() {
    let cloud = Cloud::start(&[]).await;
    // Two at once, and then one each ten seconds; for all agents of a person ten.
    let instance = cloud.instance(&[("COORD_LIMIT_HOLDER_PER_MINUTE", "6")]).await;
    let other = cloud.instance(&[("COORD_LIMIT_HOLDER_PER_MINUTE", "6")]).await;
    for _ in 0..2 {
        assert_eq!(instance.check(&jwt("ann"), json!({})).await.status, 200);
    }
    // A claim goes before reads: one more.
    assert_eq!(instance.post(&jwt("ann"), json!({})).await.status, 200);
    cloud.fake.seen();
    let before = cloud.all_but_limits().await;
    for instance in [&instance, &other] {
        check_limited(&instance.check(&jwt("ann"), json!({})).await);
        let more = json!({"file_paths": ["src/b.ts"]});
        check_limited(&instance.post(&jwt("ann"), more).await);
        let graph = instance.graph(&jwt("ann")).await;
        assert_eq!(graph.error(), (429, "RATE_LIMITED"), "{graph:?}");
        assert!(graph.body.get("orchestration").is_none(), "for people");
    }
    assert_eq!(cloud.all_but_limits().await, before);
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
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
        assert!(started.elapsed() < Duration::from_secs(60), "{let_in} were let in");
    };
    check_limited(&limited);
    assert!(let_in >= 100, "{let_in}");
    assert_eq!(instance.check(&jwt("bob"), json!({})).await.status, 200);
    // A moment later there is room for some again.
    until("ann is let in again", async || {
        instance.check(&jwt("ann"), json!({})).await.status == 200
    })
    .await;
}

#[test]
fn ten_busy_agents_never_meet_a_limit() {
    let rates = Rates::default();
    // One question a second of each is slower than what is worked off.
    assert!(rates.holder.interval_ms < 1_000 && rates.holder.burst >= 10);
    assert!(rates.repository.interval_ms * 10 < 1_000 && rates.repository.burst >= 10);
    assert!(rates.person.interval_ms * 10 < 1_000 && rates.person.burst >= 10);
    // An hour of it by the algorithm of `limits.lua`, all ten at the same instant and also twice in each.
    for (rate, at_once) in [(rates.holder, 2), (rates.person, 20), (rates.repository, 20)] {
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
                answer.body["message"]
                    .as_str()
                    .unwrap()
                    .contains("the callers of this repository"),
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
    // The only limit is of the caller that asked about an unknown branch.
    assert_eq!(limits.len(), 1, "{limits:?}");
}

#[tokio::test]
async fn changing_agents_do_not_take_what_others_need() {
    let cloud = Cloud::start(&[]).await;
    let limits = [
        ("COORD_LIMIT_PERSON_PER_MINUTE", "30"),
        ("COORD_LIMIT_REPOSITORY_PER_MINUTE", "60"),
    ];
    let instance = cloud.instance(&limits).await;
    assert_eq!(instance.post(&jwt("bob"), json!({})).await.status, 200);
    let mut let_in = 0;
    for number in 0..40 {
        let answer = instance
            .check(&jwt("ann"), json!({"agent_id": format!("a{number}")}))
            .await;
        if answer.status == 200 {
            let_in += 1;
            continue;
        }
        check_limited(&answer);
        assert!(
            answer.body["message"]
                .as_str()
                .unwrap()
                .contains("your agents together"),
            "{answer:?}"
        );
    }
    assert!((10..=14).contains(&let_in), "{let_in}");
    for more in [json!({}), json!({"status": "OPEN", "abandon": true})] {
        assert_eq!(instance.post(&jwt("bob"), more).await.status, 200);
    }
}

#[tokio::test]
async fn a_refusal_for_lack_of_rights_counts() {
    let bob = person("ghp_", "bob", Some("pull"));
    let cloud = Cloud::start(std::slice::from_ref(&bob)).await;
    let instance = cloud.instance(&[("COORD_LIMIT_HOLDER_PER_MINUTE", "6")]).await;
    for _ in 0..2 {
        let refused = instance.post(&bob.token, json!({})).await;
        assert_eq!(refused.error(), (403, "FORBIDDEN_REPOSITORY"), "{refused:?}");
    }
    check_limited(&instance.post(&bob.token, json!({})).await);
}

#[tokio::test]
async fn made_up_commits_cost_github_twenty_questions_and_no_more() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    assert_eq!(instance.check(&jwt("ann"), json!({})).await.status, 200);
    cloud.fake.seen();
    let mut unsure = 0;
    let started = Instant::now();
    for number in 0..60 {
        let made_up = |digit: char| format!("{number:0>39}{digit}");
        let more = json!({
            "agent_head": made_up('a'), "base_head": made_up('b'), "agent_id": format!("a{number}"),
        });
        let (answer, done) = if number % 2 == 0 {
            (instance.check(&jwt("ann"), more).await, 200)
        } else {
            (instance.post(&jwt("ann"), more).await, 409)
        };
        assert_eq!(answer.status, done, "{answer:?}");
        unsure += usize::from(answer.warns_of("HEAD_UNCONFIRMED"));
    }
    let requests = cloud.fake.requested_paths();
    let compared = requests.iter().filter(|target| target.contains("/compare/")).count();
    // One more every three seconds, which a loaded machine may take.
    let most = 21 + started.elapsed().as_secs() as usize / 3;
    assert!((20..=most).contains(&compared), "{compared}");
    assert!(unsure >= 60 - most, "{unsure}");
    // A release has to be sure, and waits.
    assert_eq!(instance.post(&jwt("ann"), json!({})).await.status, 200);
    let made_up = json!({"status": "OPEN", "new_repo_head": format!("{:0>39}c", 7)});
    let limited = instance.post(&jwt("ann"), made_up).await;
    assert!(matches!(limited.status, 409 | 429), "{limited:?}");
    // Another caller has a separate budget, and a caller that names known commits needs none.
    let more = json!({"agent_head": "0123456789012345678901234567890123456789"});
    assert_eq!(instance.check(&jwt("bob"), more).await.status, 200);
    assert_eq!(instance.post(&jwt("ann"), json!({})).await.status, 200);
}

/// Each repository has separate limits in the store, as after these are forgotten; the credential for GitHub is shared.
#[tokio::test]
async fn a_person_has_the_same_questions_in_all_repositories_together() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let started = Instant::now();
    let (mut commits, mut branches) = (0, 0);
    for repository in 0..5 {
        for number in 0..20 {
            let more = json!({"agent_head": format!("{repository}{number:0>39}"), "agent_id": format!("a{number}")});
            assert_eq!(instance.check(&jwt("ann"), more).await.status, 200);
            let more = json!({"branch": format!("made-up-{repository}-{number}"), "agent_id": format!("a{number}")});
            let answer = instance.check(&jwt("ann"), more).await;
            assert!(matches!(answer.status, 404 | 429), "{answer:?}");
            branches += usize::from(answer.status == 404);
        }
        let requests = cloud.fake.requested_paths();
        commits += requests.iter().filter(|target| target.contains("/compare/")).count();
        for key in cloud.keys().await {
            if key.starts_with("coord:limit:") {
                cloud.command(["DEL", &key]).await;
            }
        }
    }
    let later = started.elapsed().as_secs() as usize / 3;
    assert!((20..=21 + later).contains(&commits), "{commits}");
    assert!((59..=61 + later).contains(&branches), "{branches}");
    // A refused request leaves no lease: another caller asks at once.
    let more = json!({"branch": "made-up-4-19"});
    assert_eq!(instance.check(&jwt("bob"), more).await.status, 404);
}

/// The targets asked for that are no heads of `main`, which are asked for with an ETag.
fn requests_except_main(cloud: &Cloud) -> Vec<String> {
    let mut requests = cloud.fake.requested_paths();
    requests.retain(|target| target != "/commits/heads/main");
    requests
}

#[tokio::test]
async fn made_up_pushes_cost_github_twenty_questions_and_no_more() {
    for work_branch in [None, Some("side"), Some("made-up")] {
        let cloud = Cloud::start(&[]).await;
        let instance = cloud.instance(&[]).await;
        cloud.repo.git(&["branch", "side"]);
        assert_eq!(instance.post(&jwt("ann"), json!({})).await.status, 200);
        cloud.fake.seen();
        let started = Instant::now();
        let mut limited = 0;
        for number in 0..60 {
            let made_up = |digit: char| format!("{number:0>39}{digit}");
            let mut open = json!({
                "status": "OPEN", "new_repo_head": made_up('a'), "agent_head": made_up('b'),
            });
            if let Some(work_branch) = work_branch {
                open["work_branch"] = json!(work_branch);
            }
            let answer = instance.post(&jwt("ann"), open).await;
            match answer.status {
                409 => assert_eq!(answer.error(), (409, "NOT_PUSHED"), "{answer:?}"),
                _ => {
                    check_limited(&answer);
                    limited += 1;
                }
            }
        }
        // One more every three seconds, which a loaded machine may take.
        let most = 21 + started.elapsed().as_secs() as usize / 3;
        let requests = requests_except_main(&cloud);
        let compared = requests.iter().filter(|target| target.contains("/compare/")).count();
        assert!((20..=most).contains(&compared), "{work_branch:?}: {compared}");
        assert!(limited >= 60 - most, "{work_branch:?}: {limited}");
        // A branch has a separate budget; without one, two more requests fetch the names of others.
        let of_branches = requests.len() - compared;
        let (each, more) = match work_branch {
            None => (0, 0),
            Some("side") => (1, 0),
            Some(_) => (1, 2),
        };
        assert!(of_branches <= most * each + more, "{work_branch:?}: {requests:?}");
        assert!(cloud.is_locked("src/a.ts").await);
        // Another caller has a separate budget.
        assert_eq!(
            instance
                .post(&jwt("bob"), json!({"file_paths": ["src/b.ts"]}))
                .await
                .status,
            200
        );
        let next = cloud.repo.commit(&[("src/b.ts", "export const b = 2;\n")]);
        let open = json!({"status": "OPEN", "file_paths": ["src/b.ts"], "new_repo_head": next, "agent_head": next});
        assert_eq!(instance.post(&jwt("bob"), open).await.status, 200);
    }
}

#[tokio::test]
async fn made_up_branches_cost_github_a_question_each() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    assert_eq!(instance.check(&jwt("ann"), json!({})).await.status, 200);
    cloud.fake.seen();
    let started = Instant::now();
    let mut refused = 0;
    for number in 0..60 {
        let more = json!({"branch": format!("made-up-{number}"), "agent_id": format!("a{number}")});
        let answer = instance.check(&jwt("ann"), more).await;
        assert!(matches!(answer.status, 404 | 429), "{answer:?}");
        refused += usize::from(answer.status == 404);
    }
    // Two more tell the names of others, again after a minute.
    let most = refused + 2 * (1 + started.elapsed().as_secs() as usize / 60);
    let requests = requests_except_main(&cloud);
    assert!((refused..=most).contains(&requests.len()), "{refused}: {requests:?}");
}

#[tokio::test]
async fn a_copy_that_github_does_not_have_is_counted_with_what_it_costs() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    assert_eq!(instance.post(&jwt("ann"), json!({})).await.status, 200);
    let pushed = cloud.repo.commit(&[("src/a.ts", "export const a = 2;\n")]);
    cloud.fake.seen();
    let started = Instant::now();
    for number in 0..30 {
        let own = format!("{number:0>39}b");
        let open = json!({"status": "OPEN", "new_repo_head": pushed, "agent_head": own});
        let answer = instance.post(&jwt("ann"), open).await;
        assert!(matches!(answer.status, 409 | 429), "{answer:?}");
    }
    let requests = requests_except_main(&cloud);
    let compared = requests.iter().filter(|target| target.contains("/compare/")).count();
    let most = 21 + started.elapsed().as_secs() as usize / 3;
    assert!((19..=most).contains(&compared), "{compared}");
}

#[tokio::test]
async fn interfaces_are_not_compared_beyond_the_budget() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let keeps = json!({"interface": "keeps"});
    for is_used_up in [false, true] {
        let head = cloud.repo.git(&["rev-parse", "HEAD"]);
        let claim = json!({"interface": keeps["interface"], "agent_head": head.trim()});
        assert_eq!(instance.post(&jwt("ann"), claim).await.status, 200);
        let content = format!("export const changed{is_used_up} = 1;\n");
        let pushed = cloud.repo.commit(&[("src/a.ts", &content)]);
        cloud.age_head(60).await;
        assert_eq!(
            instance.check(&jwt("bob"), json!({"agent_head": pushed})).await.status,
            200
        );
        for number in 0..if is_used_up { 21 } else { 0 } {
            let more = json!({"agent_head": format!("{number:0>40}"), "file_paths": ["src/b.ts"]});
            assert_eq!(instance.check(&jwt("ann"), more).await.status, 200);
        }
        cloud.fake.seen();
        let open = json!({"status": "OPEN", "new_repo_head": pushed, "agent_head": pushed});
        let open = instance.post(&jwt("ann"), open).await;
        assert_eq!(open.status, 200, "{open:?}");
        let warnings = open.body["warnings"].to_string();
        let requests = cloud.fake.requested_paths();
        if is_used_up {
            let why = "It is not known whether the interface of 'src/a.ts' was kept: your requests have asked GitHub too much";
            assert!(warnings.contains(why), "{warnings}");
            assert_eq!(requests, Vec::<String>::new());
        } else {
            assert!(warnings.contains("`changedfalse` is new"), "{warnings}");
            assert_eq!(requests.len(), 4, "two trees and two blobs: {requests:?}");
        }
    }
}

#[tokio::test]
async fn the_last_requests_of_an_hour_are_kept_for_heads() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    assert_eq!(instance.check(&jwt("ann"), json!({})).await.status, 200);
    cloud.age_head(11).await;
    let few = [
        ("x-ratelimit-limit", "5000"),
        ("x-ratelimit-remaining", "1000"),
        ("x-ratelimit-reset", "99999999999"),
    ];
    cloud
        .fake
        .fail("/commits/heads/main", 1, Fault::with(200, &few, &cloud.head));
    assert_eq!(instance.check(&jwt("ann"), json!({})).await.status, 200);
    cloud.fake.seen();
    // For unknown commits and unknown branches, no request is made.
    let more = json!({"agent_head": "0123456789012345678901234567890123456789"});
    let unsure = instance.check(&jwt("ann"), more).await;
    assert!(unsure.warns_of("HEAD_UNCONFIRMED"), "{unsure:?}");
    let unknown = instance.check(&jwt("ann"), json!({"branch": "made-up"})).await;
    assert_eq!(unknown.error(), (503, "SOURCE_LIMITED"), "{unknown:?}");
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
    // Heads are.
    cloud.age_head(11).await;
    let checked = instance.check(&jwt("ann"), json!({})).await;
    assert_eq!(
        (checked.status, checked.warns_of("HEAD_UNCONFIRMED")),
        (200, false),
        "{checked:?}"
    );
    assert_eq!(cloud.fake.requested_paths(), ["/commits/heads/main"]);
}

#[tokio::test]
async fn a_value_that_is_not_taken_puts_functions_out_of_action_and_is_named() {
    let alice = person("ghp_", "alice", Some("push"));
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    for (variable, value) in [
        ("COORD_LIMIT_HOLDER_PER_MINUTE", "-1"),
        ("COORD_LIMIT_HOLDER_PER_MINUTE", "often"),
        ("COORD_LIMIT_PERSON_PER_MINUTE", "60001"),
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
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
}
