//! How often may be asked, over HTTP.

use std::time::{Duration, Instant};

use coord_settings::Rates;
use serde_json::{Value, json};

use crate::callers::alice;
use crate::cloud::{Answer, Cloud, jwt, started};
use crate::people::person;
use coord_test_support::github::Fault;
use coord_test_support::waiting::until;

#[track_caller]
fn check_limited(answer: &Answer) {
    let outcome = (answer.error(), answer.action());
    assert_eq!(outcome, ((429, "RATE_LIMITED"), "WAIT"), "{answer:?}");
    assert_eq!(answer.body["orchestration"]["type"], "orchestration_command");
    let retry_after: i64 = answer.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&retry_after), "{answer:?}");
    assert_eq!(answer.body["orchestration"]["metadata"]["retry_after"], retry_after);
}

/// The most requests of a budget of twenty since `started`: it gets one more every three seconds, which a loaded machine
/// may take.
fn most_since(started: Instant) -> usize {
    21 + started.elapsed().as_secs() as usize / 3
}

/// A release of work that nobody has pushed.
fn made_up_release(number: usize) -> Value {
    json!({
        "status": "OPEN", "new_repo_head": format!("{number:0>39}a"), "agent_head": format!("{number:0>39}b"),
    })
}

#[tokio::test]
async fn a_caller_above_its_limit_waits_and_others_continue() {
    let cloud = Cloud::start(&[]).await;
    // Two at once, and then one each ten seconds; for all agents of a person ten.
    let limits = [("COORD_LIMIT_HOLDER_PER_MINUTE", "6")];
    let (instance, other) = (cloud.instance(&limits).await, cloud.instance(&limits).await);
    for _ in 0..2 {
        instance.check(&jwt("ann"), json!({})).await.expect_ok();
    }
    // A claim goes before reads: one more.
    instance.post(&jwt("ann"), json!({})).await.expect_ok();
    cloud.fake.seen();
    let before = cloud.all_but_limits().await;
    for instance in [&instance, &other] {
        check_limited(&instance.check(&jwt("ann"), json!({})).await);
        let more = json!({"file_paths": ["src/b.ts"]});
        check_limited(&instance.post(&jwt("ann"), more).await);
        let graph = instance.graph(&jwt("ann")).await;
        let graph = graph.expect_error(429, "RATE_LIMITED");
        assert!(graph.body.get("orchestration").is_none(), "for people");
    }
    assert_eq!(cloud.all_but_limits().await, before);
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
    for (login, more) in [("bob", json!({})), ("ann", json!({"agent_id": "second"}))] {
        let answer = other.check(&jwt(login), more).await;
        assert_eq!(answer.status, 200, "{login}: {answer:?}");
    }
}

#[tokio::test]
async fn a_caller_with_a_github_token_is_limited_and_its_refusals_count() {
    let (alice, bob) = (alice(), person("ghp_", "bob", Some("pull")));
    let cloud = Cloud::start(&[alice.clone(), bob.clone()]).await;
    let instance = cloud.instance(&[("COORD_LIMIT_HOLDER_PER_MINUTE", "6")]).await;
    for _ in 0..2 {
        instance.check(&alice.token, json!({})).await.expect_ok();
        // Bob has no right to write.
        let refused = instance.post(&bob.token, json!({})).await;
        refused.expect_error(403, "FORBIDDEN_REPOSITORY");
    }
    check_limited(&instance.check(&alice.token, json!({})).await);
    check_limited(&instance.post(&bob.token, json!({})).await);
}

#[tokio::test]
async fn a_loop_that_runs_away_is_held_up_within_seconds() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let started = Instant::now();
    let mut admitted = 0;
    let limited = loop {
        let answer = instance.check(&jwt("ann"), json!({})).await;
        if answer.status != 200 {
            break answer;
        }
        admitted += 1;
        assert!(started.elapsed() < Duration::from_secs(60), "{admitted} were admitted");
    };
    check_limited(&limited);
    assert!(admitted >= 100, "{admitted}");
    instance.check(&jwt("bob"), json!({})).await.expect_ok();
    // A moment later there is room for some again.
    let has_room = async || instance.check(&jwt("ann"), json!({})).await.status == 200;
    until("ann is admitted again", has_room).await;
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
                answer.message().contains("the callers of this repository"),
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
            answer.expect_ok();
        }
    }
    let mut limits = cloud.keys().await;
    limits.retain(|key| key.starts_with("coord:limit:"));
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
    instance.post(&jwt("bob"), json!({})).await.expect_ok();
    let mut admitted = 0;
    for number in 0..40 {
        let more = json!({"agent_id": format!("a{number}")});
        let answer = instance.check(&jwt("ann"), more).await;
        if answer.status == 200 {
            admitted += 1;
            continue;
        }
        check_limited(&answer);
        assert!(answer.message().contains("your agents together"), "{answer:?}");
    }
    assert!((10..=14).contains(&admitted), "{admitted}");
    for more in [json!({}), json!({"status": "OPEN", "abandon": true})] {
        instance.post(&jwt("bob"), more).await.expect_ok();
    }
}

#[tokio::test]
async fn made_up_commits_cost_github_twenty_questions_and_no_more() {
    let (cloud, instance) = started().await;
    let mut unsure = 0;
    let began = Instant::now();
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
    let compared = cloud.count_requests("/compare/");
    let most = most_since(began);
    assert!((20..=most).contains(&compared), "{compared}");
    assert!(unsure >= 60 - most, "{unsure}");
    // A release has to be sure, and waits.
    instance.post(&jwt("ann"), json!({})).await.expect_ok();
    let made_up = json!({"status": "OPEN", "new_repo_head": format!("{:0>39}c", 7)});
    let limited = instance.post(&jwt("ann"), made_up).await;
    assert!(matches!(limited.status, 409 | 429), "{limited:?}");
    // Another caller has a separate budget, and a caller that names known commits needs none.
    let more = json!({"agent_head": "0123456789012345678901234567890123456789"});
    instance.check(&jwt("bob"), more).await.expect_ok();
    instance.post(&jwt("ann"), json!({})).await.expect_ok();
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
            let agent = format!("a{number}");
            let more = json!({"agent_head": format!("{repository}{number:0>39}"), "agent_id": agent});
            instance.check(&jwt("ann"), more).await.expect_ok();
            let more = json!({"branch": format!("made-up-{repository}-{number}"), "agent_id": agent});
            let answer = instance.check(&jwt("ann"), more).await;
            assert!(matches!(answer.status, 404 | 429), "{answer:?}");
            branches += usize::from(answer.status == 404);
        }
        commits += cloud.count_requests("/compare/");
        for key in cloud.keys().await {
            if key.starts_with("coord:limit:") {
                cloud.command(["DEL", &key]).await;
            }
        }
    }
    let most = most_since(started);
    assert!((20..=most).contains(&commits), "{commits}");
    // The budget for branches is sixty, and grows as fast.
    assert!((59..=most + 40).contains(&branches), "{branches}");
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
    // A branch has a separate budget; without one, two more requests fetch the names of others.
    for (work_branch, each, more) in [(None, 0, 0), (Some("side"), 1, 0), (Some("made-up"), 1, 2)] {
        let cloud = Cloud::start(&[]).await;
        let instance = cloud.instance(&[]).await;
        cloud.repo.git(&["branch", "side"]);
        instance.post(&jwt("ann"), json!({})).await.expect_ok();
        cloud.fake.seen();
        let started = Instant::now();
        let mut limited = 0;
        for number in 0..60 {
            let mut open = made_up_release(number);
            if let Some(work_branch) = work_branch {
                open["work_branch"] = json!(work_branch);
            }
            let answer = instance.post(&jwt("ann"), open).await;
            if answer.status == 409 {
                answer.expect_error(409, "NOT_PUSHED");
            } else {
                check_limited(&answer);
                limited += 1;
            }
        }
        let most = most_since(started);
        let requests = requests_except_main(&cloud);
        let compared = requests.iter().filter(|target| target.contains("/compare/")).count();
        assert!((20..=most).contains(&compared), "{work_branch:?}: {compared}");
        assert!(limited >= 60 - most, "{work_branch:?}: {limited}");
        let of_branches = requests.len() - compared;
        assert!(of_branches <= most * each + more, "{work_branch:?}: {requests:?}");
        assert!(cloud.is_locked("src/a.ts").await);
        // Another caller has a separate budget.
        let claim = json!({"file_paths": ["src/b.ts"]});
        instance.post(&jwt("bob"), claim).await.expect_ok();
        let next = cloud.repo.commit(&[("src/b.ts", "export const b = 2;\n")]);
        let open = json!({"status": "OPEN", "file_paths": ["src/b.ts"], "new_repo_head": next, "agent_head": next});
        instance.post(&jwt("bob"), open).await.expect_ok();
    }
}

#[tokio::test]
async fn made_up_branches_cost_github_a_question_each() {
    let (cloud, instance) = started().await;
    let began = Instant::now();
    let mut refused = 0;
    for number in 0..60 {
        let more = json!({"branch": format!("made-up-{number}"), "agent_id": format!("a{number}")});
        let answer = instance.check(&jwt("ann"), more).await;
        assert!(matches!(answer.status, 404 | 429), "{answer:?}");
        refused += usize::from(answer.status == 404);
    }
    // Two more list the names of others, again after a minute.
    let most = refused + 2 * (1 + began.elapsed().as_secs() as usize / 60);
    let requests = requests_except_main(&cloud);
    assert!((refused..=most).contains(&requests.len()), "{refused}: {requests:?}");
}

#[tokio::test]
async fn a_copy_that_github_does_not_have_is_counted_with_what_it_costs() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    instance.post(&jwt("ann"), json!({})).await.expect_ok();
    let pushed = cloud.repo.commit(&[("src/a.ts", "export const a = 2;\n")]);
    cloud.fake.seen();
    let started = Instant::now();
    for number in 0..30 {
        let mut open = made_up_release(number);
        open["new_repo_head"] = json!(pushed);
        let answer = instance.post(&jwt("ann"), open).await;
        assert!(matches!(answer.status, 409 | 429), "{answer:?}");
    }
    let compared = cloud.count_requests("/compare/");
    assert!((19..=most_since(started)).contains(&compared), "{compared}");
}

#[tokio::test]
async fn interfaces_are_not_compared_beyond_the_budget() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    for is_used_up in [false, true] {
        let head = cloud.repo.git(&["rev-parse", "HEAD"]);
        let claim = json!({"interface": "keeps", "agent_head": head});
        instance.post(&jwt("ann"), claim).await.expect_ok();
        let content = format!("export const changed{is_used_up} = 1;\n");
        let pushed = cloud.repo.commit(&[("src/a.ts", &content)]);
        cloud.age_head(60).await;
        let checked = instance.check(&jwt("bob"), json!({"agent_head": pushed})).await;
        checked.expect_ok();
        for number in 0..if is_used_up { 21 } else { 0 } {
            let more = json!({"agent_head": format!("{number:0>40}"), "file_paths": ["src/b.ts"]});
            instance.check(&jwt("ann"), more).await.expect_ok();
        }
        cloud.fake.seen();
        let open = json!({"status": "OPEN", "new_repo_head": pushed, "agent_head": pushed});
        let open = instance.post(&jwt("ann"), open).await.expect_ok();
        let warnings = open.body["warnings"].to_string();
        let requests = cloud.fake.requested_paths();
        if is_used_up {
            let why = "It is not known whether the interface of 'src/a.ts' was kept: your requests have asked GitHub too often";
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
    let (cloud, instance) = started().await;
    cloud.age_head(11).await;
    let few = [
        ("x-ratelimit-limit", "5000"),
        ("x-ratelimit-remaining", "1000"),
        ("x-ratelimit-reset", "99999999999"),
    ];
    let few = Fault::with(200, &few, &cloud.head);
    cloud.fake.fail("/commits/heads/main", 1, few);
    instance.check(&jwt("ann"), json!({})).await.expect_ok();
    cloud.fake.seen();
    // For unknown commits and unknown branches, no request is made.
    let more = json!({"agent_head": "0123456789012345678901234567890123456789"});
    let unsure = instance.check(&jwt("ann"), more).await;
    assert!(unsure.warns_of("HEAD_UNCONFIRMED"), "{unsure:?}");
    let unknown = instance.check(&jwt("ann"), json!({"branch": "made-up"})).await;
    unknown.expect_error(503, "SOURCE_LIMITED");
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
    // Heads are.
    cloud.age_head(11).await;
    let checked = instance.check(&jwt("ann"), json!({})).await.expect_ok();
    assert!(!checked.warns_of("HEAD_UNCONFIRMED"), "{checked:?}");
    assert_eq!(cloud.fake.requested_paths(), ["/commits/heads/main"]);
}

#[tokio::test]
async fn a_value_that_is_not_taken_puts_functions_out_of_action_and_is_named() {
    let alice = alice();
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
            let mut answers = Vec::from(instance.ask_each(&alice.token).await);
            if more.len() == 1 {
                answers.push(instance.check(&jwt("ann"), json!({})).await);
            }
            for answer in answers {
                assert_eq!(answer.status, 503, "{variable}={value}: {answer:?}");
                assert!(answer.message().contains(variable), "{variable}={value}: {answer:?}");
            }
        }
    }
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
}
