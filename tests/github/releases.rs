//! What is let go of after a push, where the repository is on GitHub.

use serde_json::{Value, json};

use crate::cloud::{Answer, Cloud, Instance, jwt};

/// A cloud, an instance, and ann, who writes two files.
async fn claimed() -> (Cloud, Instance) {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let claimed = instance
        .post(&jwt("ann"), json!({"file_paths": ["src/a.ts", "src/b.ts"]}))
        .await;
    assert_eq!(claimed.status, 200, "{claimed:?}");
    cloud.fake.seen();
    (cloud, instance)
}

async fn open(instance: &Instance, new_head: &str, more: Value) -> Answer {
    let mut body = json!({"status": "OPEN", "new_repo_head": new_head, "agent_head": new_head});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    instance.post(&jwt("ann"), body).await
}

fn asked_to_compare(cloud: &Cloud) -> usize {
    let asked = cloud.fake.asked();
    asked.iter().filter(|target| target.starts_with("/compare/")).count()
}

#[tokio::test]
async fn a_push_is_found_by_one_question_that_tells_what_is_unchanged_too() {
    let (cloud, instance) = claimed().await;
    let next = cloud.repo.commit(&[("src/a.ts", "export const a = 2;\n")]);
    let done = open(&instance, &next, json!({"file_paths": ["src/a.ts", "src/b.ts"]})).await;
    assert_eq!((done.status, done.action()), (200, "PROCEED"), "{done:?}");
    let warnings = done.body["warnings"].to_string();
    assert!(
        warnings.contains("UNCHANGED: At that commit 'src/b.ts' is as"),
        "{warnings}"
    );
    assert_eq!(asked_to_compare(&cloud), 1);
    assert!(!cloud.is_locked("src/a.ts").await && !cloud.is_locked("src/b.ts").await);
    // Asked again, it is answered as before, and nobody is asked.
    let again = open(&instance, &next, json!({"file_paths": ["src/a.ts", "src/b.ts"]})).await;
    assert_eq!(again.body, done.body);
    assert_eq!(cloud.fake.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn what_does_not_come_after_the_claim_or_is_not_on_the_branch_is_no_push() {
    let (cloud, instance) = claimed().await;
    let own = "0123456789abcdef0123456789abcdef01234567";
    cloud.repo.git(&["checkout", "--quiet", "-b", "side", &cloud.head]);
    let beside = cloud.repo.commit(&[("src/a.ts", "export const a = 3;\n")]);
    cloud.repo.git(&["checkout", "--quiet", "main"]);
    let others = cloud.repo.commit(&[("other.ts", "")]);
    for (new_head, agent_head, reason) in [
        (cloud.head.as_str(), cloud.head.as_str(), "was already the head of"),
        (own, own, "is not on origin/main"),
        (&beside, &beside, "is not on origin/main"),
        (&others, own, "your working copy is at"),
        (&others, &beside, "your working copy is at"),
    ] {
        let refused = open(&instance, new_head, json!({"agent_head": agent_head})).await;
        assert_eq!(
            (refused.error(), refused.action()),
            ((409, "NOT_PUSHED"), "PUSH"),
            "{refused:?}"
        );
        let why = refused.body["message"].as_str().unwrap();
        assert!(why.contains(reason) && why.contains("\"abandon\": true"), "{why}");
        assert_eq!(refused.body["repo_head_ref"], "refs/heads/main");
        assert_eq!(
            refused.body["orchestration"]["metadata"]["unpushed"],
            json!(["src/a.ts"])
        );
        assert!(cloud.is_locked("src/a.ts").await);
    }
    // A file that is untouched at a commit that is not pushed needs no push.
    let untouched = open(&instance, &beside, json!({"file_paths": ["src/b.ts"]})).await;
    assert!(
        untouched.status == 200 && untouched.warns_of("UNCHANGED"),
        "{untouched:?}"
    );
}

#[tokio::test]
async fn history_that_was_written_anew_is_no_dead_end() {
    let (cloud, instance) = claimed().await;
    cloud
        .repo
        .git(&["commit", "--quiet", "--amend", "--allow-empty", "--message", "Anew"]);
    let unrelated = cloud.repo.commit(&[("src/a.ts", "export const a = 4;\n")]);
    let refused = open(&instance, &unrelated, json!({})).await;
    // Not even the first commit is common to both: GitHub cannot compare them.
    assert_eq!(refused.error(), (409, "NOT_PUSHED"), "{refused:?}");
    let done = open(&instance, &unrelated, json!({"abandon": true})).await;
    assert_eq!(done.status, 200, "{done:?}");

    let base = cloud.repo.commit(&[("x.ts", "1")]);
    cloud.age_head(60).await;
    let claimed = instance.post(&jwt("ann"), json!({"agent_head": base})).await;
    assert_eq!(claimed.status, 200, "{claimed:?}");
    cloud.repo.git(&["reset", "--quiet", "--hard", &unrelated]);
    let anew = cloud.repo.commit(&[("src/a.ts", "export const a = 5;\n")]);
    let done = open(&instance, &anew, json!({})).await;
    assert_eq!(done.status, 200, "{done:?}");
}

#[tokio::test]
async fn work_is_thrown_away_when_the_branch_is_gone_or_github_is_away() {
    let (cloud, instance) = claimed().await;
    cloud.repo.git(&["checkout", "--quiet", "--detach"]);
    cloud.repo.git(&["branch", "--quiet", "-D", "main"]);
    cloud.age_head(60).await;
    let gone = instance.check(&jwt("ann"), json!({})).await;
    assert_eq!(gone.error(), (404, "UNKNOWN_BRANCH"), "{gone:?}");
    let next = "0123456789abcdef0123456789abcdef01234567";
    let refused = open(&instance, next, json!({})).await;
    assert!(
        refused.body["message"].as_str().unwrap().contains("abandon"),
        "{refused:?}"
    );
    cloud.fake.seen();
    let done = open(&instance, next, json!({"abandon": true})).await;
    assert_eq!((done.status, &done.body["repo_head"]), (200, &json!(null)), "{done:?}");
    assert_eq!(cloud.fake.asked(), Vec::<String>::new(), "nobody is asked");
    assert!(!cloud.is_locked("src/a.ts").await);
}

#[tokio::test]
async fn a_holder_renews_though_behind_and_nobody_is_asked() {
    let (cloud, instance) = claimed().await;
    cloud.repo.commit(&[("other.ts", "")]);
    cloud.age_head(60).await;
    let own = json!({"agent_head": "0123456789abcdef0123456789abcdef01234567"});
    let renewed = instance.post(&jwt("ann"), own.clone()).await;
    assert_eq!((renewed.status, renewed.action()), (200, "PROCEED"), "{renewed:?}");
    assert!(
        renewed.warns_of("STALE_BRANCH") && renewed.warns_of("ALREADY_HELD"),
        "{renewed:?}"
    );
    assert!(renewed.body["warnings"].to_string().contains("PULL"), "{renewed:?}");
    assert_eq!(asked_to_compare(&cloud), 0);
    let more = json!({"file_paths": ["src/a.ts", "src/new.ts"], "agent_head": own["agent_head"]});
    let refused = instance.post(&jwt("ann"), more).await;
    assert_eq!(
        (refused.error(), refused.action()),
        ((409, "STALE_HEAD"), "PULL"),
        "{refused:?}"
    );
    let reason = refused.body["message"].as_str().unwrap();
    assert!(
        reason.contains("cannot tell") && reason.contains("base_head"),
        "{reason}"
    );
    assert!(!cloud.is_locked("src/new.ts").await);
}
