//! The holder of a token, according to GitHub.

use std::fmt::Debug;
use std::time::Duration;

use coord_auth::{AuthError, TokenVerifier, Verdict};
use coord_domain::{Member, RepoId, UserId};
use coord_sources::Source;
use coord_sources::github::{Credential, GithubSource};
use secrecy::SecretString;

use crate::{config, id, repo, small};
use coord_test_support::github::{APP, APP_KEY, Fake, Fault, NUMBER, Person, Visibility};

const SERVICE: &str = "ghp_theserviceitself";

/// A token of the kind that `prefix` says.
fn token(prefix: &str, whose: &str) -> String {
    format!("{prefix}{whose:0<40}")
}

pub fn person(prefix: &str, login: &str, role: Option<&'static str>) -> Person {
    Person {
        token: token(prefix, login),
        login: login.to_owned(),
        name: None,
        role,
        is_installation: false,
    }
}

pub fn app(login: &str) -> Person {
    Person {
        // As installations have it since 2026: with a JWT in it.
        token: format!("ghs_4242_{0}.{0}-_.{0}", "eyJhbGciOiJSUzI1NiJ9".repeat(7)),
        is_installation: true,
        ..person("", login, Some("pull"))
    }
}

/// A repository that the service may see, and who else there is.
pub async fn with(people: &[Person], is_private: bool) -> (tempfile::TempDir, Fake, GithubSource) {
    let (temp, _, _, fake) = small().await;
    fake.behave(|behavior| {
        behavior.people = people.to_vec();
        if is_private {
            behavior.visibility = Visibility::Token(SERVICE.to_owned());
        }
    });
    let mut config = config(&fake);
    config.credential = Credential::Token(SERVICE.to_owned().into());
    let source = GithubSource::new(config).unwrap();
    (temp, fake, source)
}

/// A private repository, and one person beside the service.
async fn with_one(person: &Person) -> (tempfile::TempDir, Fake, GithubSource) {
    with(std::slice::from_ref(person), true).await
}

pub type Verified = Result<Verdict, AuthError>;

pub async fn verify(source: &GithubSource, token: &str) -> Verified {
    source.verify(&SecretString::from(token.to_owned()), &id()).await
}

pub fn member(login: &str, name: &str, can_push: bool) -> Verdict {
    Verdict::Member(Member {
        user_id: UserId::parse(login).unwrap(),
        user_name: name.to_owned(),
        can_push,
        is_owner: false,
    })
}

/// Alice, with these rights.
fn alice_with(can_push: bool, is_owner: bool) -> Verdict {
    match member("alice", "alice", can_push) {
        Verdict::Member(alice) => Verdict::Member(Member { is_owner, ..alice }),
        verdict => verdict,
    }
}

/// Asserts that GitHub gave no verdict.
#[track_caller]
pub fn assert_unavailable(verdict: &Verified, case: impl Debug) {
    assert!(
        matches!(verdict, Err(AuthError::Unavailable(_))),
        "{case:?}: {verdict:?}"
    );
}

/// Asserts that the caller has no right in the repository, and returns why.
#[track_caller]
fn expect_no_right(verdict: Verified, case: impl Debug) -> String {
    match verdict {
        Ok(Verdict::NoRight(why)) => why,
        other => panic!("{case:?}: {other:?}"),
    }
}

/// Asserts that the token is refused, and returns why.
#[track_caller]
fn expect_refusal(verdict: Verified, case: impl Debug) -> String {
    match verdict {
        Ok(Verdict::Refused(why)) => why,
        other => panic!("{case:?}: {other:?}"),
    }
}

#[tokio::test]
async fn each_kind_of_a_users_token_names_the_user() {
    for prefix in ["ghp_", "gho_", "ghu_", "github_pat_", ""] {
        let mut alice = person(prefix, "alice", Some("push"));
        if prefix.is_empty() {
            alice.token = "0123456789abcdef0123456789abcdef01234567".to_owned();
        }
        let (_temp, fake, source) = with_one(&alice).await;
        let verdict = verify(&source, &alice.token).await.unwrap();
        assert_eq!(verdict, member("alice", "alice", true), "{prefix}");
        let seen = fake.seen();
        let mut targets: Vec<&str> = seen.iter().map(|seen| seen.target.as_str()).collect();
        targets.sort_unstable();
        assert_eq!(targets, ["/api/v3/repos/acme/widgets", "/api/v3/user"]);
        // Never with the credential of the service.
        let shown = Some(format!("Bearer {}", alice.token));
        assert!(seen.iter().all(|seen| seen.authorization == shown), "{seen:?}");
    }
}

#[tokio::test]
async fn the_token_of_an_app_has_the_apps_login_and_reads() {
    for login in ["github-actions[bot]", "octo-app[bot]"] {
        let bot = app(login);
        let (_temp, fake, source) = with_one(&bot).await;
        // GitHub says of every such token that it may not push, whatever it was granted.
        assert_eq!(verify(&source, &bot.token).await.unwrap(), member(login, login, false));
        let requests = fake.seen();
        let graphql = requests.iter().find(|seen| seen.target == "/api/graphql").unwrap();
        assert_eq!((requests.len(), graphql.method.as_str()), (3, "POST"));
        assert_eq!(graphql.authorization, Some(format!("Bearer {}", bot.token)));
    }
}

#[tokio::test]
async fn a_persons_rights_are_those_on_github() {
    for (role, can_push, is_owner) in [
        ("pull", false, false),
        ("triage", false, false),
        ("push", true, false),
        ("maintain", true, true),
        ("admin", true, true),
    ] {
        let alice = person("ghp_", "alice", Some(role));
        let (_temp, fake, source) = with_one(&alice).await;
        let expected = alice_with(can_push, is_owner);
        assert_eq!(verify(&source, &alice.token).await.unwrap(), expected, "{role}");
        // Nobody pushes to an archive, and whoever may read it still may.
        fake.behave(|behavior| behavior.is_archived = true);
        let expected = member("alice", "alice", false);
        assert_eq!(verify(&source, &alice.token).await.unwrap(), expected, "{role}");
    }
    let alice = person("ghp_", "alice", Some("admin"));
    let (_temp, fake, source) = with_one(&alice).await;
    for (body, can_push) in [
        (r#"{"private": true}"#, false),
        (r#"{"private": true, "permissions": null}"#, false),
        (r#"{"private": true, "permissions": {}}"#, false),
        (r#"{"private": true, "permissions": {"maintain": true}}"#, true),
    ] {
        fake.fail("/repos/acme/widgets", 1, Fault::with(200, &[], body));
        let expected = alice_with(can_push, can_push);
        assert_eq!(verify(&source, &alice.token).await.unwrap(), expected, "{body}");
    }
}

#[tokio::test]
async fn a_name_that_is_shown_is_plain_and_of_some_length() {
    for (name, expected) in [
        ("Mona Lisa", "Mona Lisa".to_owned()),
        ("Mo\u{1b}[2Jna\nLisa\u{202e}", "Mo[2Jna Lisa".to_owned()),
        ("\r\n", "alice".to_owned()),
        (&"ß".repeat(5_000), "ß".repeat(128)),
    ] {
        let alice = Person {
            name: Some(name.to_owned()),
            ..person("ghp_", "alice", Some("push"))
        };
        let (_temp, _fake, source) = with_one(&alice).await;
        let verdict = verify(&source, &alice.token).await.unwrap();
        assert_eq!(verdict, member("alice", &expected, true));
    }
}

#[tokio::test]
async fn a_repository_that_is_not_shown_is_no_right_and_a_bad_token_is_refused() {
    let stranger = person("ghp_", "mallory", None);
    let (_temp, fake, source) = with_one(&stranger).await;
    let verify_stranger = async || verify(&source, &stranger.token).await;
    let why = expect_no_right(verify_stranger().await, "private");
    assert!(why.contains("acme/widgets"), "{why}");
    let other = source.verify(&stranger.token.clone().into(), &repo("gadgets")).await;
    expect_no_right(other, "another repository");
    for status in [410, 451] {
        fake.fail("/repos/acme/widgets", 1, Fault::status(status));
        expect_no_right(verify_stranger().await, status);
    }
    // An organization that wants a single sign-on says so.
    let sso = r#"{"message": "Resource protected by organization SAML enforcement.\n"}"#;
    fake.fail("/repos/acme/widgets", 1, Fault::with(403, &[], sso));
    let why = expect_no_right(verify_stranger().await, sso);
    assert!(why.contains("SAML") && !why.contains('\n'), "{why}");

    fake.seen();
    for prefix in ["ghp_", "ghs_"] {
        expect_refusal(verify(&source, &token(prefix, "revoked")).await, prefix);
    }
    // Asked once: a token does not become right by asking again.
    assert_eq!(fake.seen().len(), 4);
    // Of a public repository as well.
    fake.behave(|behavior| behavior.visibility = Visibility::Public);
    expect_refusal(verify(&source, &token("ghp_", "revoked")).await, "public");
    let verdict = verify_stranger().await.unwrap();
    assert_eq!(verdict, member("mallory", "mallory", false));
    let suspended = r#"{"message": "Sorry. Your account was suspended."}"#;
    fake.fail("/user", 1, Fault::with(403, &[], suspended));
    let why = expect_refusal(verify_stranger().await, suspended);
    assert!(why.contains("suspended"), "{why}");
}

#[tokio::test]
async fn known_facts_cause_no_request() {
    let alice = person("ghp_", "alice", Some("push"));
    let (_temp, fake, _) = with_one(&alice).await;
    let mut limited = config(&fake);
    limited.only = Some(vec![repo("gadgets")]);
    let limited = GithubSource::new(limited).unwrap();
    let open = GithubSource::new(config(&fake)).unwrap();
    let shown = SecretString::from(alice.token);
    for (source, url) in [
        (&limited, "https://127.0.0.1/acme/widgets"),
        (&open, "https://github.com/acme/widgets"),
        (&open, "https://169.254.169.254/latest/meta-data"),
        (&open, "https://127.0.0.1/acme/widgets/more"),
    ] {
        let repo = RepoId::parse(url).unwrap();
        expect_no_right(source.verify(&shown, &repo).await, url);
        expect_no_right(source.verify_without_token(&repo).await, url);
    }
    for text in [
        String::new(),
        token("ghr_", "refresh"),
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl".to_owned(),
        format!("{}\r\nx-evil: 1", token("ghp_", "alice")),
        token("ghp_", &"a".repeat(9_000)),
    ] {
        expect_refusal(verify(&open, &text).await, text);
    }
    assert!(fake.seen().is_empty());
}

#[tokio::test]
async fn the_new_name_of_a_renamed_repository_is_shown_only_when_it_is_public() {
    for is_private in [true, false] {
        let (_temp, fake, source) = with(&[], is_private).await;
        fake.behave(|behavior| behavior.former_name = Some("gizmos".to_owned()));
        let why = async |name: &str| expect_no_right(source.verify_without_token(&repo(name)).await, name);
        let renamed = why("gizmos").await;
        if is_private {
            // As for one that does not exist.
            assert_eq!(renamed, why("nothing").await.replace("nothing", "gizmos"));
        } else {
            assert!(renamed.contains("was renamed to 127.0.0.1/acme/widgets"), "{renamed}");
        }
    }
}

#[tokio::test]
async fn a_token_counts_for_a_renamed_repository_by_its_new_name_and_goes_to_no_other_host() {
    let alice = person("ghp_", "alice", Some("push"));
    let (_temp, fake, source) = with_one(&alice).await;
    let shown = SecretString::from(alice.token.clone());
    fake.behave(|behavior| behavior.former_name = Some("gizmos".to_owned()));
    let former = repo("gizmos");
    let why = expect_no_right(source.verify(&shown, &former).await, "the old name");
    assert!(why.contains("was renamed to 127.0.0.1/acme/widgets"), "{why}");
    let moved = format!("/api/v3/repositories/{NUMBER}");
    assert!(fake.seen().iter().any(|seen| seen.target == moved));
    // The others learn it without a question.
    assert_eq!(source.renamed_to(&former), Some(id()));

    let bot = app("octo-app[bot]");
    fake.behave(|behavior| behavior.people.push(bot.clone()));
    for elsewhere in [
        format!("{}/user", fake.downloads()),
        "https://example.com/user".to_owned(),
        "//example.com/api/v3/user".to_owned(),
    ] {
        for (part, status, shown) in [
            ("/user", 301, &alice.token),
            ("/user", 307, &alice.token),
            ("/repos/acme/widgets", 302, &alice.token),
            ("/graphql", 308, &bot.token),
        ] {
            fake.fail(part, 1, Fault::with(status, &[("location", &elsewhere)], ""));
            assert_unavailable(&verify(&source, shown).await, &elsewhere);
        }
    }
    let seen = fake.seen();
    assert!(!seen.is_empty() && seen.iter().all(|seen| !seen.is_download));
}

#[tokio::test]
async fn sixty_four_questions_about_one_token_are_one() {
    let (alice, bob) = (
        person("ghp_", "alice", Some("push")),
        person("ghp_", "bob", Some("pull")),
    );
    let (_temp, fake, source) = with(&[alice.clone(), bob.clone()], true).await;
    fake.fail("/user", 2, Fault::Slow(Duration::from_millis(100)));
    let expected = [member("alice", "alice", true), member("bob", "bob", false)];
    let asking = (0..64).map(|number| verify(&source, [&alice.token, &bob.token][number % 2]));
    for (number, verdict) in futures::future::join_all(asking).await.into_iter().enumerate() {
        assert_eq!(verdict.unwrap(), expected[number % 2]);
    }
    assert_eq!(fake.seen().len(), 4);
}

#[tokio::test]
async fn a_caller_without_a_token_reads_only_public_repositories() {
    let (_temp, fake, source) = with(&[], false).await;
    let verify_nobody = async || source.verify_without_token(&id()).await;
    let verdict = verify_nobody().await.unwrap();
    assert_eq!(verdict, member("anonymous", "anonymous", false));
    let seen = fake.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].authorization, Some(format!("Bearer {SERVICE}")));

    fake.behave(|behavior| behavior.is_internal = true);
    expect_no_right(verify_nobody().await, "internal");
    fake.behave(|behavior| {
        behavior.is_internal = false;
        behavior.visibility = Visibility::Token(SERVICE.to_owned());
    });
    expect_no_right(verify_nobody().await, "private");
    let other = source.verify_without_token(&repo("gadgets")).await;
    expect_no_right(other, "another repository");
    for body in [
        r#"{"private": true}"#,
        r#"{"private": false, "visibility": "internal"}"#,
        r#"{"private": false, "visibility": "secret"}"#,
        r#"{"private": true, "visibility": "public"}"#,
    ] {
        fake.fail("/repos/", 1, Fault::with(200, &[], body));
        expect_no_right(verify_nobody().await, body);
    }
    for fault in [Fault::with(200, &[], "{}"), Fault::status(401), Fault::status(500)] {
        fake.fail("/repos/", 3, fault.clone());
        assert_unavailable(&verify_nobody().await, fault);
        fake.behave(|behavior| behavior.forget_faults());
    }

    let (_temp, _, _, fake) = small().await;
    let mut installed = config(&fake);
    let environment = |name: &str| match name {
        "GITHUB_APP_ID" => Some(APP.to_owned()),
        "GITHUB_APP_PRIVATE_KEY" => Some(APP_KEY.to_owned()),
        _ => None,
    };
    installed.credential = Credential::from_env(&environment).unwrap();
    let installed = GithubSource::new(installed).unwrap();
    expect_no_right(installed.verify_without_token(&id()).await, "not installed");
}
