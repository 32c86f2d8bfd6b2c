//! The client of `coord-protocol` against a real server.

use coord_protocol::client::{Client, ClientError, LocksFilter};
use coord_protocol::{Action, CheckRequest, ErrorCode, LockMode, LockStatus, PostRequest, Status};
use secrecy::SecretString;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::api::{Api, REPO_URL};

fn client(api: &Api, agent: &str) -> Client {
    Client::new(&format!("http://{}", api.address), None, Some(agent)).unwrap()
}

fn check(api: &Api) -> CheckRequest {
    CheckRequest {
        repo_url: Some(REPO_URL.to_owned()),
        branch: Some("main".to_owned()),
        file_paths: Some(vec!["src/db.ts".to_owned()]),
        agent_head: Some(api.head.clone()),
        ..CheckRequest::default()
    }
}

// rule: messages#proceed
#[tokio::test]
async fn two_agents_meet_over_the_client() {
    let api = Api::start().await;
    let (one, two) = (client(&api, "one"), client(&api, "two"));
    let check = check(&api);
    let claim = PostRequest {
        repo_url: check.repo_url.clone(),
        branch: check.branch.clone(),
        file_paths: check.file_paths.clone(),
        status: Some(LockStatus::Writing),
        message: Some("Adding connection pooling, query() becomes async".to_owned()),
        agent_head: check.agent_head.clone(),
        ..PostRequest::default()
    };
    let free = one.check_status(&check).await.unwrap();
    assert_eq!((free.status, free.orchestration.action), (Status::Ok, Action::Proceed));
    assert_eq!(free.repo_head.as_deref(), Some(api.head.as_str()));

    let granted = one.post_status(&claim).await.unwrap();
    assert!(granted.success);
    assert_eq!(granted.locks.unwrap()["src/db.ts"].status, LockMode::Writing);

    let refused = two.post_status(&claim).await.unwrap();
    assert!(!refused.success);
    assert_eq!(refused.error.unwrap().error, ErrorCode::LockConflict);
    assert_eq!(refused.orchestration.action, Action::Wait);
    let metadata = refused.orchestration.metadata.unwrap();
    assert_eq!(metadata.lock_owner_agent.as_deref(), Some("one"));
    assert!(metadata.retry_after.is_some_and(|seconds| seconds > 0));
    let checked = two.check_status(&check).await.unwrap();
    assert_eq!(checked.status, Status::Conflict);
    assert_eq!(checked.locks["src/db.ts"].agent_id.as_deref(), Some("one"));

    let filter = LocksFilter {
        branch: Some("main".to_owned()),
        is_own: true,
        agent_id: None,
    };
    let held = one.locks(REPO_URL, &filter).await.unwrap();
    assert_eq!(held.locks.len(), 1);
    assert_eq!(held.locks[0].file_path, "src/db.ts");
    assert!(two.locks(REPO_URL, &filter).await.unwrap().locks.is_empty());
}

#[tokio::test]
async fn an_error_keeps_its_code_its_field_and_its_command() {
    let api = Api::start().await;
    let client = client(&api, "one");
    let unknown = CheckRequest {
        branch: Some("mian".to_owned()),
        ..check(&api)
    };
    let Err(ClientError::Refused {
        status,
        error,
        orchestration,
        ..
    }) = client.check_status(&unknown).await
    else {
        panic!("a branch that does not exist was checked");
    };
    assert_eq!(
        (status, error.error, error.field.as_deref()),
        (404, ErrorCode::UnknownBranch, Some("branch"))
    );
    assert_eq!(orchestration.unwrap().action, Action::Stop);
    let Err(ClientError::Refused { status, error, .. }) = client.locks("nonsense", &LocksFilter::default()).await
    else {
        panic!("the locks of no repository were listed");
    };
    assert_eq!((status, error.error), (400, ErrorCode::InvalidField));
}

#[tokio::test]
async fn a_server_that_is_not_coord_or_not_there_is_an_error_with_its_status() {
    for (answer, expected) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "status 200"),
        (
            "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\n\r\n<html>",
            "status 502",
        ),
        (
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
            "status 302",
        ),
        ("", "does not answer"),
    ] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await.unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        let token = SecretString::from("the secret of a test".to_owned());
        let client = Client::new(&format!("http://{address}/base"), Some(&token), None).unwrap();
        let error = client.locks(REPO_URL, &LocksFilter::default()).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{answer}: {error}");
        assert!(!format!("{error:?} {client:?}").contains("the secret"), "{error:?}");
        server.await.unwrap();
    }
}

#[test]
fn an_address_that_is_no_server_s_or_holds_a_secret_is_refused_and_not_repeated() {
    for (base, why) in [
        ("nonsense", "not a URL"),
        ("hunter2", "not a URL"),
        ("http://ann:hunter2@", "not a URL"),
        ("https://ann:hunter2@host:port/", "not a URL"),
        ("ftp://ann:hunter2@host/", "not an http or https URL"),
        ("file:///etc/passwd", "not an http or https URL"),
        ("https://ann:hunter2@host/", "user name or password"),
        ("https://:hunter2@host/", "user name or password"),
        ("https://hunter2@host/", "user name or password"),
        ("https://host/?token=hunter2", "query"),
        ("https://host/#hunter2", "fragment"),
    ] {
        let error = Client::new(base, None, None).expect_err(base);
        assert!(matches!(error, ClientError::Invalid(_)), "{base}: {error:?}");
        let shown = format!("{error} {error:?}");
        assert!(shown.contains(why), "{base}: {shown}");
        assert!(!shown.contains("hunter2"), "{base}: {shown}");
    }
}
