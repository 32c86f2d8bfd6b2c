//! The graph of a public repository, for anybody.

use serde_json::json;

use crate::cloud::{Cloud, URL, jwt};

const PUBLIC: [(&str, &str); 1] = [("COORD_PUBLIC_GRAPH", "1")];

#[tokio::test]
async fn a_caller_without_a_token_reads_a_public_graph_and_nothing_else() {
    let cloud = Cloud::start(&[]).await;
    cloud.is_public();
    let (one, other) = (cloud.instance(&PUBLIC).await, cloud.instance(&PUBLIC).await);
    assert_eq!(one.graph("").await.status, 202);
    let requests = cloud.fake.requested_paths();
    let about_it = requests.iter().filter(|target| target.is_empty()).count();
    assert_eq!(about_it, 1, "{requests:?}");
    // That it is public is remembered for all.
    for instance in [&one, &other] {
        let graph = instance.graph("").await;
        assert_eq!((graph.status, &graph.body["state"]), (202, &json!("building")));
    }
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
    for answer in [one.check("", json!({})).await, one.post("", json!({})).await] {
        let answer = answer.expect_error(401, "UNAUTHORIZED");
        assert_eq!(answer.action(), "STOP");
    }
    // A caller that shows a credential is judged by it, even if it is wrong.
    for wrong in ["hunter2", "anybody", "ghp_0123456789012345678901234567890123456789"] {
        assert_eq!(one.graph(wrong).await.error(), (401, "UNAUTHORIZED"), "{wrong}");
    }
    assert!(!cloud.is_locked("src/a.ts").await);
}

#[tokio::test]
async fn the_graph_of_a_private_repository_is_refused_without_a_token() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&PUBLIC).await;
    for _ in 0..2 {
        instance.graph("").await.expect_error(403, "FORBIDDEN_REPOSITORY");
    }
    let requests = cloud.fake.requested_paths();
    assert_eq!(requests, [""], "that it is not is remembered, too");
    cloud.fake.behave(|behavior| behavior.is_internal = true);
    assert_eq!(instance.graph("").await.status, 403);
    let keys = cloud.keys().await;
    assert!(keys.iter().all(|key| !key.contains(":identity:")), "{keys:?}");
}

/// A refusal of the old name once showed the new one to anybody.
#[tokio::test]
async fn a_private_repository_that_was_renamed_keeps_its_new_name_to_itself() {
    let cloud = Cloud::start(&[]).await;
    cloud
        .fake
        .behave(|behavior| behavior.former_name = Some("gizmos".to_owned()));
    let former = URL.replace("acme/widgets", "acme/gizmos");
    let instance = cloud.instance(&PUBLIC).await;
    for _ in 0..2 {
        let refused = instance.graph_of(&former, "").await;
        let refused = refused.expect_error(403, "FORBIDDEN_REPOSITORY");
        assert!(!format!("{refused:?}").contains("widgets"), "{refused:?}");
    }
    cloud.is_public();
    let refused = cloud.instance(&PUBLIC).await.graph_of(&former, "").await;
    let refused = refused.expect_error(403, "FORBIDDEN_REPOSITORY");
    assert!(format!("{refused:?}").contains("acme/widgets"), "{refused:?}");
}

#[tokio::test]
async fn graphs_are_not_public_unless_coord_public_graph_is_set() {
    let cloud = Cloud::start(&[]).await;
    cloud.is_public();
    for value in ["", "0", "undefined", "null"] {
        let instance = cloud.instance(&[("COORD_PUBLIC_GRAPH", value)]).await;
        let refused = instance.graph("").await;
        assert_eq!(refused.error(), (401, "UNAUTHORIZED"), "{value}: {refused:?}");
    }
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
    for value in ["yes", "true", "2"] {
        let instance = cloud.instance(&[("COORD_PUBLIC_GRAPH", value)]).await;
        let refused = instance.graph("").await;
        assert_eq!(refused.status, 503, "{value}: {refused:?}");
        assert!(refused.message().contains("COORD_PUBLIC_GRAPH"), "{refused:?}");
    }
}

#[tokio::test]
async fn locks_are_public_where_the_graph_is_and_cause_no_head_request() {
    let cloud = Cloud::start(&[]).await;
    let closed = cloud.instance(&[]).await;
    let open = cloud.instance(&PUBLIC).await;
    open.locks("", "").await.expect_error(403, "FORBIDDEN_REPOSITORY");
    cloud.is_public();
    let open_now = cloud.instance(&PUBLIC).await;
    closed.locks("", "").await.expect_error(401, "UNAUTHORIZED");
    open_now.post(&jwt("ann"), json!({})).await.expect_ok();
    cloud.fake.requested_paths();
    for (instance, token) in [(&open_now, ""), (&closed, jwt("bob").as_str())] {
        for query in ["", "&branch=main"] {
            let answer = instance.locks(token, query).await.expect_ok();
            assert_eq!(answer.body["locks"][0]["user"], "jwt:ann", "{answer:?}");
        }
        let elsewhere = instance.locks(token, "&branch=gone").await.expect_ok();
        assert_eq!(elsewhere.body["locks"], json!([]));
    }
    let own = closed.locks(&jwt("bob"), "&holder=me").await.expect_ok();
    assert_eq!(own.body["locks"], json!([]));
    // A caller without a token is nobody.
    let nobody = open_now.locks("", "&holder=me").await;
    nobody.expect_error(401, "UNAUTHORIZED");
    let requests = cloud.fake.requested_paths();
    assert!(
        requests.iter().all(String::is_empty),
        "that it is public, and nothing else: {requests:?}"
    );
}
