//! Releases that are repeated, in part, or by two agents of one person, where the repository is on GitHub.

use serde_json::json;

use crate::cloud::{Cloud, jwt};
use crate::releases::{claimed, open};

#[tokio::test]
async fn a_second_open_is_answered_as_the_first_though_another_holds_it() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let base = cloud.repo.commit(&[("src/page.ts", "import './a';\n")]);
    cloud.publish_graph().await;
    let claim = instance.post(&jwt("ann"), json!({"agent_head": base})).await;
    assert_eq!(claim.status, 200, "{claim:?}");
    let pushed = cloud.repo.commit(&[("src/a.ts", "export const a = 2;\n")]);
    let first = open(&instance, &pushed, json!({})).await;
    assert_eq!(
        (first.status, &first.body["orphaned_dependencies"]),
        (200, &json!(["src/page.ts"])),
        "{first:?}"
    );
    cloud.age_head(60).await;
    let of_bob = instance.post(&jwt("bob"), json!({"agent_head": pushed})).await;
    assert_eq!(of_bob.status, 200, "{of_bob:?}");
    cloud.fake.seen();
    let again = open(&instance, &pushed, json!({})).await;
    assert_eq!(again.body, first.body);
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new(), "nobody is asked");
    let other = json!({"status": "OPEN", "abandon": true});
    let other = instance.post(&jwt("ann"), other).await;
    assert!(
        other.warns_of("ALREADY_RELEASED") && !other.warns_of("LOCK_EXPIRED"),
        "{other:?}"
    );
    assert_eq!(cloud.holder("src/a.ts").await.as_deref(), Some("jwt:bob"));
}

#[tokio::test]
async fn abandoning_releases_the_rest_and_names_no_orphans() {
    let (cloud, instance) = claimed().await;
    cloud.expire_locks("src/b.ts").await;
    let of_bob = instance.post(&jwt("bob"), json!({"file_paths": ["src/b.ts"]})).await;
    assert_eq!(of_bob.status, 200, "{of_bob:?}");
    let both = json!({"status": "OPEN", "file_paths": ["src/a.ts", "src/b.ts"], "abandon": true});
    let done = instance.post(&jwt("ann"), both).await;
    assert_eq!((done.status, done.warns_of("LOCK_LOST")), (200, true), "{done:?}");
    let orphans = done.body["orphaned_dependencies"].as_array();
    assert!(orphans.is_none_or(Vec::is_empty), "{done:?}");
    assert!(!cloud.is_locked("src/a.ts").await);
    assert_eq!(cloud.holder("src/b.ts").await.as_deref(), Some("jwt:bob"));
}

#[tokio::test]
async fn two_agents_without_an_id_are_warned_already_held() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let first = instance.post(&jwt("ann"), json!({})).await;
    assert_eq!(
        (first.status, first.warns_of("ALREADY_HELD")),
        (200, false),
        "{first:?}"
    );
    let second = instance.post(&jwt("ann"), json!({})).await;
    assert_eq!(
        (second.status, second.warns_of("ALREADY_HELD")),
        (200, true),
        "{second:?}"
    );
    let warnings = second.body["warnings"].to_string();
    assert!(
        warnings.contains("another agent of yours") && warnings.contains("agent_id"),
        "{warnings}"
    );
    let token = |answer: &crate::cloud::Answer| answer.body["locks"]["src/a.ts"]["token"].clone();
    assert!(token(&first).is_i64() && token(&first) == token(&second));
    for (agent, status) in [("one", 200), ("two", 409)] {
        let more = json!({"file_paths": ["src/b.ts"], "agent_id": agent});
        let answer = instance.post(&jwt("ann"), more).await;
        assert_eq!(answer.status, status, "{agent}: {answer:?}");
    }
}
