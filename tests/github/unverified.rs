//! Callers that nobody vouches for: what they show costs nobody anything that others need.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use coord_http::Endpoint;
use coord_serve::ServeArgs;
use coord_state::expiry::keys::DUE;
use futures::future::join_all;
use reqwest::Method;
use serde_json::json;

use crate::callers::alice;
use crate::cloud::{Answer, Cloud, Instance, URL, jwt, listen};
use crate::people::person;
use crate::small;
use coord_test_support::git::Repo;
use coord_test_support::github::{Fault, Person};
use coord_test_support::waiting::until;

fn made_up(number: usize) -> String {
    format!("ghp_{number:0>40}")
}

impl Instance {
    /// A check that came from `address`, as the platform says.
    async fn check_from(&self, address: &str, token: &str) -> Answer {
        let request = self.question(coord_http::endpoint::CHECK_STATUS, token, &json!({}));
        self.send(request.header("x-vercel-forwarded-for", address)).await
    }

    /// Checks with made-up tokens until one is refused for their number.
    async fn use_up(&self, numbers: &mut impl Iterator<Item = usize>) {
        let mut status = 0;
        while status != 429 {
            let token = made_up(numbers.next().unwrap());
            status = self.check(&token, json!({})).await.status;
        }
    }
}

impl Cloud {
    /// A cloud that has verified alice, and alice.
    async fn with_alice() -> (Cloud, Person) {
        let alice = alice();
        let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
        cloud.new_check(&alice).await.expect_ok();
        (cloud, alice)
    }

    /// A check of `person` by a process that knows nobody.
    async fn new_check(&self, person: &Person) -> Answer {
        let instance = self.instance(&[]).await;
        instance.check(&person.token, json!({})).await
    }

    /// Lets it be `seconds` ago that the caller was verified, for who reads it from the store.
    async fn age_identity(&self, seconds: u64) -> String {
        let keys = self.keys().await;
        let key = keys.iter().find(|key| key.contains(":identity:")).unwrap().clone();
        let left = (86_400 - seconds).to_string();
        assert_eq!(self.command(["EXPIRE", &key, &left]).await.as_int(), Some(1));
        key
    }
}

#[tokio::test]
async fn an_unverified_caller_leaves_nothing_in_the_store() {
    let cloud = Cloud::start(&[alice()]).await;
    let instance = cloud.instance(&[]).await;
    for number in 0..10 {
        let token = made_up(number);
        for url in [URL.to_owned(), format!("https://127.0.0.1/acme/made-up-{number}")] {
            for branch in ["main", "made-up"] {
                let more = json!({"repo_url": url, "branch": branch});
                for answer in [
                    instance.check(&token, more.clone()).await,
                    instance.post(&token, more.clone()).await,
                ] {
                    let answer = answer.expect_error(401, "UNAUTHORIZED");
                    assert!(answer.body["repo_head"].is_null(), "{answer:?}");
                }
            }
        }
        assert_eq!(instance.graph(&token).await.status, 401);
    }
    let is_of_callers = |endpoint: &Endpoint| {
        let others = [
            coord_http::endpoint::operation::CRON_CLEANUP,
            coord_http::endpoint::operation::HEALTH,
            coord_http::endpoint::operation::GITHUB_WEBHOOK,
            coord_http::endpoint::operation::MCP_METADATA,
        ];
        !others.contains(endpoint)
    };
    for endpoint in coord_extensions::endpoints().iter().copied().filter(is_of_callers) {
        for method in [Method::GET, Method::POST, Method::PATCH, Method::DELETE] {
            let answer = instance.any(endpoint, method.clone(), &made_up(3)).await;
            // An invalid request is refused before any caller is verified.
            let is_refused = matches!(answer.status, 400 | 401 | 404 | 405);
            assert!(is_refused, "{method} {endpoint:?}: {answer:?}");
        }
    }
    assert_eq!(cloud.everything().await, "");
    // None of it was asked with the credential of the service.
    let seen = cloud.fake.seen();
    let is_own = |shown: &str| shown.starts_with("Bearer ghp_00000");
    let mut shown = seen.iter().map(|seen| seen.authorization.as_deref());
    assert!(shown.all(|shown| shown.is_some_and(is_own)), "{seen:?}");
}

#[tokio::test]
async fn refused_claims_leave_nothing_on_the_list_of_what_is_due() {
    let alice = person("ghp_", "alice", Some("pull"));
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let instance = cloud.instance(&[]).await;
    for number in 0..20 {
        let more = json!({"repo_url": format!("https://127.0.0.1/acme/made-up-{number}")});
        assert_eq!(instance.post(&jwt("ann"), more).await.status, 404);
    }
    assert_eq!(instance.post(&alice.token, json!({})).await.status, 403);
    let stale = json!({"agent_head": "0123456789012345678901234567890123456789"});
    assert_eq!(instance.post(&jwt("ann"), stale).await.status, 409);
    assert_eq!(cloud.command(["EXISTS", DUE]).await.as_int(), Some(0));
    instance.post(&jwt("ann"), json!({})).await.expect_ok();
    assert_eq!(cloud.command(["ZCARD", DUE]).await.as_int(), Some(1));
}

#[tokio::test]
async fn a_made_up_token_learns_neither_repositories_nor_branches() {
    let (_temp, repo, _, fake) = small().await;
    repo.git(&["branch", "secret-plan"]);
    let data = tempfile::tempdir().unwrap();
    let local = tempfile::tempdir().unwrap();
    let on_disk = Repo::init(local.path(), &[]);
    on_disk.commit(&[("x.ts", "")]);
    on_disk.git(&["branch", "hidden-plan"]);
    on_disk.git(&["remote", "add", "origin", "https://github.com/acme/gadgets.git"]);
    // So that tokens are looked at.
    fake.behave(|behavior| behavior.people.push(alice()));
    let args = ServeArgs {
        repo: vec![local.path().to_owned()],
        github: vec!["acme/widgets".to_owned()],
        github_api: Some(fake.api().to_owned()),
        data_dir: Some(data.path().to_owned()),
        ..ServeArgs::default()
    };
    // Not a loopback address: everybody has to show something.
    let elsewhere = SocketAddr::from(([192, 0, 2, 1], 80));
    let server = coord_serve::build(&args, elsewhere).await.unwrap();
    let address = listen(server.router).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for (url, branch) in [
        ("https://127.0.0.1/acme/nothing", "main"),
        ("https://github.com/acme/gadgets", "hidden-pla"),
        ("https://github.com/acme/gadgets", "main"),
        (URL, "secret-pla"),
    ] {
        let body = json!({
            "repo_url": url, "branch": branch, "file_paths": ["a.ts"], "agent_head": "0123456",
            "status": "WRITING", "message": "Looking around",
        });
        for route in ["check_status", "post_status"] {
            let request = client
                .post(format!("http://{address}/api/{route}"))
                .bearer_auth(made_up(7))
                .header("content-type", "application/json")
                .body(body.to_string());
            let response = request.send().await.unwrap();
            let status = response.status().as_u16();
            let text = response.text().await.unwrap();
            assert!(matches!(status, 401 | 403), "{url} {branch}: {status} {text}");
            for name in ["widgets", "gadgets", "secret-plan", "hidden-plan"] {
                assert!(url.contains(name) || !text.contains(name), "{url} {branch}: {text}");
            }
        }
    }
}

/// Four a second, and more than 230 a minute.
#[tokio::test]
async fn guessed_tokens_lock_no_member_out() {
    let (cloud, alice) = Cloud::with_alice().await;
    // Her verdict has expired, in a process that knows nothing of her; the same address tries tokens.
    cloud.age_identity(1_000).await;
    let instance = cloud.instance(&[]).await;
    cloud.fake.requested_paths();
    let mut statuses = BTreeMap::new();
    let started = Instant::now();
    for number in 0..260 {
        let answer = instance.check(&made_up(number), json!({})).await;
        if answer.status == 429 {
            let refusal = (answer.error().1, answer.action());
            assert_eq!(refusal, ("RATE_LIMITED", "WAIT"), "{answer:?}");
        }
        *statuses.entry(answer.status).or_insert(0) += 1;
    }
    let count = cloud.fake.requested_paths().len();
    // One more every two seconds. They are not well-formed, so that half of the address's burst is left.
    let most = 31 + started.elapsed().as_secs() as usize / 2;
    assert!((30..=most).contains(&statuses[&401]), "{statuses:?}, at most {most}");
    assert_eq!(statuses[&401] + statuses[&429], 260, "{statuses:?}");
    assert!(count <= 2 * most, "{count}");
    instance.check(&alice.token, json!({})).await.expect_ok();
    let mut requests = cloud.fake.requested_paths();
    // The head may be old by now.
    requests.retain(|path| !path.starts_with("/commits/"));
    assert_eq!(requests.len(), 2, "she was asked about again: {requests:?}");
    // A newcomer whose token is not well-formed either comes from elsewhere. From this address, one newcomer is allowed
    // once two seconds have gone by since the last try.
    let newcomers: Vec<Person> = (0..20)
        .map(|number| person("ghp_", &format!("new-{number}"), Some("push")))
        .collect();
    cloud
        .fake
        .behave(|behavior| behavior.people.extend(newcomers.iter().cloned()));
    let mut tried = 260..;
    let mut refused = None;
    for newcomer in &newcomers {
        instance.use_up(&mut tried).await;
        if instance.check(&newcomer.token, json!({})).await.status == 429 {
            refused = Some(newcomer);
            break;
        }
    }
    let refused = refused.expect("a newcomer is refused");
    instance.check_from("203.0.113.5", &refused.token).await.expect_ok();
}

/// The checksums of the tokens of newcomers, as GitHub would give them out.
const CHECKSUMS: [&str; 20] = [
    "3wvc0M", "1KEZIW", "0wQ3IZ", "3A2cKb", "3c1cnl", "1eqPn1", "0c5GMK", "3U5Gak", "4R4wxE", "20SxbC", "3Whoms",
    "1kAZAG", "0fHQD5", "3QtS0D", "3qtG3x", "1QGAN9", "1023kW", "36Pqyk", "4CUi2K", "2FKbMM",
];

#[tokio::test]
async fn new_users_are_admitted_while_made_up_tokens_are_sent_beside_them() {
    let newcomer = |(number, checksum): (usize, &&str)| Person {
        token: format!("ghp_Newcomer{number:02}NewcomerNewcomerNewc{checksum}"),
        ..person("ghp_", &format!("new-{number}"), Some("push"))
    };
    let newcomers: Vec<Person> = CHECKSUMS.iter().enumerate().map(newcomer).collect();
    let cloud = Cloud::start(&newcomers).await;
    let instance = cloud.instance(&[]).await;
    let mut tried = 0..;
    for newcomer in &newcomers {
        // From the same address, until it is refused; and from others.
        instance.use_up(&mut tried).await;
        for neighbor in 0..10 {
            let address = format!("203.0.113.{neighbor}");
            instance.check_from(&address, &made_up(tried.next().unwrap())).await;
        }
        let answer = instance.check(&newcomer.token, json!({})).await;
        assert_eq!(answer.status, 200, "{}: {answer:?}", newcomer.login);
    }
}

/// As behind a proxy, where everybody has one address.
#[tokio::test]
async fn guessed_tokens_cost_few_reads_and_block_no_member() {
    let members = ["alice", "bob", "carol"].map(|login| person("ghp_", login, Some("push")));
    let cloud = Cloud::start(&members).await;
    for member in &members {
        cloud.new_check(member).await.expect_ok();
    }
    // A process that has just started, and knows nobody.
    let instance = cloud.instance(&[]).await;
    let (tried, read, is_over) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let started = Instant::now();
    let stranger = async || {
        while !is_over.load(Ordering::Relaxed) {
            let number = tried.fetch_add(1, Ordering::Relaxed);
            let answer = instance.check(&made_up(number), json!({})).await;
            assert!(matches!(answer.status, 401 | 429), "{answer:?}");
            read.fetch_add(usize::from(answer.round_trips() > 0), Ordering::Relaxed);
        }
    };
    let strangers = join_all((0..4).map(|_| stranger()));
    let member = async {
        let is_used_up = async || read.load(Ordering::Relaxed) > 610;
        until("the reads without a pause are used up", is_used_up).await;
        for member in &members {
            instance.check(&member.token, json!({})).await.expect_ok();
        }
        is_over.store(true, Ordering::Relaxed);
    };
    tokio::join!(strangers, member);
    let read = read.into_inner();
    let most = 601 + 10 * (started.elapsed().as_secs() as usize + 1);
    assert!(read <= most, "{read} were read, at most {most}");
}

#[tokio::test]
async fn a_verdict_is_renewed_in_the_background_before_it_expires() {
    let (cloud, alice) = Cloud::with_alice().await;
    let key = cloud.age_identity(250).await;
    let instance = cloud.instance(&[]).await;
    cloud.fake.requested_paths();
    // GitHub takes its time, and the caller does not wait for it.
    let pause = Duration::from_secs(6);
    cloud.fake.fail("/user", 1, Fault::Slow(pause));
    let started = Instant::now();
    instance.check(&alice.token, json!({})).await.expect_ok();
    let took = started.elapsed();
    assert!(took < pause, "{took:?}");
    let is_renewed = async || cloud.command(["TTL", &key]).await.as_int().unwrap() >= 86_390;
    until("it is renewed", is_renewed).await;
    assert_eq!(cloud.fake.requested_paths().len(), 2);
}

#[tokio::test]
async fn while_github_gives_no_answer_a_member_is_believed_for_an_hour() {
    let (cloud, alice) = Cloud::with_alice().await;
    cloud.fake.fail("/user", 1_000, Fault::status(502));
    for (age, status) in [(400, 200), (3_500, 200), (3_700, 503)] {
        cloud.age_identity(age).await;
        let instance = cloud.instance(&[]).await;
        let answer = instance.check(&alice.token, json!({})).await;
        assert_eq!(answer.status, status, "{age}: {answer:?}");
        // GitHub is not asked at every step meanwhile.
        cloud.fake.requested_paths();
        if status == 200 {
            instance.check(&alice.token, json!({})).await.expect_ok();
            assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
        }
    }
}

#[tokio::test]
async fn a_revoked_token_is_refused_once_its_verdict_has_expired() {
    let (cloud, alice) = Cloud::with_alice().await;
    cloud
        .fake
        .behave(|behavior| behavior.people.retain(|person| person.login != "alice"));
    let key = cloud.age_identity(301).await;
    cloud.new_check(&alice).await.expect_error(401, "UNAUTHORIZED");
    assert_eq!(cloud.command(["EXISTS", &key]).await.as_int(), Some(0));
}

#[tokio::test]
async fn a_scope_that_is_demanded_of_a_token_must_have_been_granted() {
    let (alice, bob) = (
        person("gho_", "alice", Some("push")),
        person("github_pat_", "bob", Some("push")),
    );
    let cloud = Cloud::start(&[alice.clone(), bob.clone()]).await;
    for (granted, status) in [("read:user, gist", 403), ("public_repo", 403), ("gist, repo", 200)] {
        let instance = cloud.instance(&[("COORD_GITHUB_SCOPE", "repo")]).await;
        let keys = cloud.keys().await;
        for key in keys.iter().filter(|key| key.contains(":identity:")) {
            cloud.command(["DEL", key]).await;
        }
        let response = Fault::with(200, &[("x-oauth-scopes", granted)], r#"{"login": "alice"}"#);
        cloud.fake.fail("/user", 1, response);
        let answer = instance.check(&alice.token, json!({})).await;
        assert_eq!(answer.status, status, "{granted}: {answer:?}");
        assert!(status == 200 || answer.message().contains("scope repo"), "{answer:?}");
    }
    // A fine-grained token has none.
    let instance = cloud.instance(&[("COORD_GITHUB_SCOPE", "repo")]).await;
    instance.check(&bob.token, json!({})).await.expect_ok();
}
