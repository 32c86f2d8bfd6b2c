//! The graph of a public repository, for anybody.

use serde_json::json;

use crate::cloud::Cloud;

const PUBLIC: [(&str, &str); 1] = [("COORD_PUBLIC_GRAPH", "1")];

#[tokio::test]
async fn anybody_reads_the_graph_of_a_public_repository_and_does_nothing_else() {
    let cloud = Cloud::start(&[]).await;
    cloud.is_public();
    let (one, other) = (cloud.instance(&PUBLIC).await, cloud.instance(&PUBLIC).await);
    assert_eq!(one.graph("").await.status, 202);
    let asked = cloud.fake.asked();
    assert_eq!(asked.iter().filter(|target| target.is_empty()).count(), 1, "{asked:?}");
    // That it is public is remembered for all.
    for instance in [&one, &other] {
        let graph = instance.graph("").await;
        assert_eq!((graph.status, &graph.body["state"]), (202, &json!("building")));
    }
    assert_eq!(cloud.fake.asked(), Vec::<String>::new());
    for answer in [one.check("", json!({})).await, one.post("", json!({})).await] {
        assert_eq!(answer.error(), (401, "UNAUTHORIZED"), "{answer:?}");
        assert_eq!(answer.action(), "STOP");
    }
    // Who shows something is who that says, also if it says nothing good.
    for wrong in ["hunter2", "anybody", "ghp_0123456789012345678901234567890123456789"] {
        assert_eq!(one.graph(wrong).await.error(), (401, "UNAUTHORIZED"), "{wrong}");
    }
    assert!(!cloud.is_locked("src/a.ts").await);
}

#[tokio::test]
async fn nobody_reads_the_graph_of_a_private_repository_without_a_token() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&PUBLIC).await;
    for _ in 0..2 {
        let refused = instance.graph("").await;
        assert_eq!(refused.error(), (403, "FORBIDDEN_REPOSITORY"), "{refused:?}");
    }
    let asked = cloud.fake.asked();
    assert_eq!(asked, [""], "that it is not is remembered, too");
    cloud.fake.behave(|behaviour| behaviour.is_internal = true);
    assert_eq!(instance.graph("").await.status, 403);
    let keys = cloud.keys().await;
    assert!(keys.iter().all(|key| !key.contains(":identity:")), "{keys:?}");
}

#[tokio::test]
async fn where_it_is_not_said_that_graphs_are_public_they_are_not() {
    let cloud = Cloud::start(&[]).await;
    cloud.is_public();
    for value in ["", "0", "undefined", "null"] {
        let instance = cloud.instance(&[("COORD_PUBLIC_GRAPH", value)]).await;
        let refused = instance.graph("").await;
        assert_eq!(refused.error(), (401, "UNAUTHORIZED"), "{value}: {refused:?}");
    }
    assert_eq!(cloud.fake.asked(), Vec::<String>::new());
    for value in ["yes", "true", "2"] {
        let instance = cloud.instance(&[("COORD_PUBLIC_GRAPH", value)]).await;
        let refused = instance.graph("").await;
        assert_eq!(refused.status, 503, "{value}: {refused:?}");
        assert!(
            refused.body["message"].as_str().unwrap().contains("COORD_PUBLIC_GRAPH"),
            "{refused:?}"
        );
    }
}
