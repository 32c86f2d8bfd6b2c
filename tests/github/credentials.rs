use std::time::Duration;

use coord_settings::Environment;
use coord_sources::github::{Credential, GithubSource};
use coord_sources::{Source, SourceError};

use crate::{blobs, branch, collector, commit_all, config, id, main_head, read, sha, small};
use coord_test_support::github::{APP, APP_KEY, Fake, Fault, Visibility};
use coord_test_support::waiting::let_pass;

const TOKEN: &str = "ghp_hunter2hunter2hunter2";

fn with_credential(fake: &Fake, environment: Environment<'_>) -> GithubSource {
    let mut config = config(fake);
    config.credential = Credential::from_env(environment).unwrap();
    GithubSource::new(config).unwrap()
}

fn with_token(fake: &Fake, token: &str) -> GithubSource {
    with_credential(fake, &|name| (name == "GITHUB_TOKEN").then(|| token.to_owned()))
}

fn with_app(fake: &Fake, key: &str) -> GithubSource {
    with_credential(fake, &|name| match name {
        "GITHUB_APP_ID" => Some(APP.to_owned()),
        "GITHUB_APP_PRIVATE_KEY" => Some(key.to_owned()),
        // The app goes first.
        "GITHUB_TOKEN" => Some("ghp_wrong".to_owned()),
        _ => None,
    })
}

/// A private repository with enough files for an archive.
async fn private(visibility: Visibility) -> (tempfile::TempDir, String, Fake) {
    let (temp, repo, _, fake) = small().await;
    let names = (0..60).map(|number| format!("f{number}.ts"));
    let head = commit_all(&repo, names.map(|name| (name.clone(), name)));
    fake.behave(|behavior| behavior.visibility = visibility);
    (temp, head, fake)
}

async fn read_all(source: &GithubSource, head: &str) {
    let entries = source.tree(&id(), &sha(head)).await.unwrap();
    let got = read(source, &id(), blobs(&entries), 1 << 20).await;
    assert!(got.len() == entries.len() && got.values().all(Result::is_ok));
}

#[tokio::test]
async fn the_token_goes_to_the_api_and_never_to_where_it_redirects() {
    let (_temp, head, fake) = private(Visibility::Token(TOKEN.to_owned())).await;
    let source = with_token(&fake, TOKEN);
    assert_eq!(main_head(&source).await.unwrap(), sha(&head));
    read_all(&source, &head).await;
    let seen = fake.seen();
    assert!(seen.iter().any(|seen| seen.is_download));
    for seen in seen {
        let expected = (!seen.is_download).then(|| format!("Bearer {TOKEN}"));
        assert_eq!(seen.authorization, expected, "{}", seen.target);
    }
    // A redirect of a question to another host takes nothing there.
    let elsewhere = format!("{}/commits", fake.downloads());
    fake.fail("/commits/", 1, Fault::with(301, &[("location", &elsewhere)], ""));
    assert!(main_head(&source).await.is_err());
    assert!(fake.seen().iter().all(|seen| !seen.is_download));
}

#[tokio::test]
async fn an_archive_on_a_foreign_host_is_not_fetched() {
    let (_temp, head, fake) = private(Visibility::Public).await;
    let port = fake.downloads().rsplit(':').next().unwrap().to_owned();
    for location in [
        format!("http://localhost:{port}/x/{head}"),
        format!("http://[::1]:{port}/x/{head}"),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "file:///etc/passwd".to_owned(),
        "https://example.com/x".to_owned(),
    ] {
        fake.behave(|behavior| behavior.archive_location = Some(location.clone()));
        let source = with_token(&fake, TOKEN);
        let entries = source.tree(&id(), &sha(&head)).await.unwrap();
        let answer = source.read_blobs(&id(), blobs(&entries), 1 << 20, collector().1).await;
        let error = answer.unwrap_err();
        assert!(matches!(error, SourceError::Unreachable(_)), "{location}: {error:?}");
        let error = error.to_string();
        assert!(error.contains("a redirect that is not followed"), "{location}: {error}");
    }
    assert!(fake.seen().iter().all(|seen| !seen.is_download));
}

#[tokio::test]
async fn a_private_repository_is_unknown_without_a_token_and_a_bad_token_is_never_shown() {
    let (_temp, head, fake) = private(Visibility::Token(TOKEN.to_owned())).await;
    assert_fails!(main_head(&crate::source(&fake)).await, UnknownRepository);
    fake.seen();
    let wrong = with_token(&fake, "ghp_wrongwrongwrong");
    let (id, head) = (id(), sha(&head));
    let answers = [
        main_head(&wrong).await.map(drop),
        wrong.tree(&id, &head).await.map(drop),
        wrong.recent_commits(&id, &head, 5).await.map(drop),
        wrong.is_ancestor(&id, &head, &sha("abcdef1")).await.map(drop),
        wrong.read_blobs(&id, vec!["1".repeat(40)], 9, collector().1).await,
    ];
    for answer in answers {
        let error = answer.unwrap_err();
        assert!(matches!(error, SourceError::Unreachable(_)), "{error:?}");
        let texts = format!("{error} {error:?} {wrong:?} {wrong:#?}");
        assert!(!texts.contains("wrongwrong"), "{texts}");
    }
    // Asked once each: a token does not become right by asking again.
    assert_eq!(fake.seen().len(), 5);
}

#[tokio::test]
async fn an_app_signs_finds_its_installation_and_has_one_token() {
    for key in [APP_KEY.to_owned(), APP_KEY.replace('\n', "\\n")] {
        let (_temp, head, fake) = private(Visibility::App).await;
        let source = with_app(&fake, &key);
        let names: Vec<_> = (0..64).map(|number| branch(&format!("b{number}"))).collect();
        let repo = id();
        let asking = names.iter().map(|name| source.head(&repo, name));
        for answer in futures::future::join_all(asking).await {
            assert_fails!(answer, UnknownBranch);
        }
        read_all(&source, &head).await;
        let seen = fake.seen();
        let count = |part: &str| seen.iter().filter(|seen| seen.target.contains(part)).count();
        assert_eq!((count("/installation"), count("/access_tokens")), (2, 1));
        assert!(seen.iter().all(|seen| seen.is_download == seen.authorization.is_none()));
        let texts = format!("{source:?} {source:#?}");
        assert!(!texts.contains("ghs_") && !texts.contains("BEGIN"), "{texts}");
    }
}

#[tokio::test]
async fn a_token_that_expires_or_is_taken_back_is_replaced() {
    let (_temp, head, fake) = private(Visibility::App).await;
    fake.behave(|behavior| behavior.token_seconds = Some(2));
    let source = with_app(&fake, APP_KEY);
    let ask = async || assert_eq!(main_head(&source).await.unwrap(), sha(&head));
    ask().await;
    let_pass(Duration::from_secs(2)).await;
    ask().await;
    fake.behave(|behavior| {
        assert_eq!(behavior.tokens, 2);
        // Taken back: another one counts now.
        behavior.token_seconds = None;
        behavior.tokens += 1;
    });
    ask().await;
    fake.behave(|behavior| assert_eq!(behavior.tokens, 4));
    // One that is never accepted is not asked for again and again.
    fake.seen();
    fake.fail("/commits/", 9, Fault::status(401));
    assert_fails!(main_head(&source).await, Unreachable);
    assert!(fake.seen().len() <= 4);
}

#[tokio::test]
async fn an_app_that_is_not_installed_knows_no_repository() {
    let (_temp, _repo, _, fake) = small().await;
    assert_fails!(main_head(&with_app(&fake, APP_KEY)).await, UnknownRepository);
    for body in [
        "",
        "{}",
        r#"{"token": "ghs_1"}"#,
        r#"{"token": "a\nb", "expires_at": "2026-01-01T00:00:00Z"}"#,
    ] {
        fake.behave(|behavior| behavior.visibility = Visibility::App);
        let source = with_app(&fake, APP_KEY);
        fake.fail("/access_tokens", 1, Fault::with(201, &[], body));
        let error = main_head(&source).await.unwrap_err();
        assert!(
            matches!(&error, SourceError::Unreachable(why) if !why.contains("ghs_")),
            "{body}: {error:?}"
        );
    }
}
