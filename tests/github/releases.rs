//! Releases after a push, where the repository is on GitHub.

use serde_json::{Value, json};

use crate::cloud::{Answer, Cloud, Instance, jwt};
use coord_test_support::git::Repo;

/// A cloud, an instance, and ann, who writes two files.
pub async fn claimed() -> (Cloud, Instance) {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let claimed = instance
        .post(&jwt("ann"), json!({"file_paths": ["src/a.ts", "src/b.ts"]}))
        .await;
    assert_eq!(claimed.status, 200, "{claimed:?}");
    cloud.fake.seen();
    (cloud, instance)
}

pub async fn open(instance: &Instance, new_head: &str, more: Value) -> Answer {
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
async fn a_commit_before_the_claim_or_off_the_branch_is_no_push() {
    let (cloud, instance) = claimed().await;
    let own = "0123456789abcdef0123456789abcdef01234567";
    cloud.repo.git(&["checkout", "--quiet", "-b", "side", &cloud.head]);
    let beside = cloud.repo.commit(&[("src/a.ts", "export const a = 3;\n")]);
    cloud.repo.git(&["checkout", "--quiet", "main"]);
    let others = cloud.repo.commit(&[("other.ts", "")]);
    for (new_head, agent_head, reason) in [
        (cloud.head.as_str(), cloud.head.as_str(), "is still at"),
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
        let why = refused.body["orchestration"]["reason"].as_str().unwrap();
        assert!(why.contains(reason) && why.contains("abandon the work"), "{why}");
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

/// A check asks about a commit before it is pushed, and what GitHub does not have is remembered for a minute.
#[tokio::test]
async fn a_push_counts_at_once_though_github_was_asked_about_it_before() {
    for work_branch in [None, Some("pool")] {
        let (cloud, instance) = claimed().await;
        cloud.repo.git(&["config", "receive.denyCurrentBranch", "ignore"]);
        cloud.repo.git(&["branch", "pool"]);
        let folder = tempfile::tempdir().unwrap();
        let origin = cloud.repo.path().display().to_string();
        Repo::at(folder.path()).git(&["clone", "--quiet", &origin, "agent"]);
        let agent = Repo::at(folder.path().join("agent"));
        let commit = agent.commit(&[("src/a.ts", "export const a = 2;\n")]);
        let next = agent.commit(&[("src/b.ts", "export const b = 2;\n")]);
        let read = json!({"status": "READING", "agent_head": commit, "work_branch": work_branch});
        assert_eq!(instance.post(&jwt("bob"), read).await.status, 409);
        let more = json!({"work_branch": work_branch});
        let early = open(&instance, &commit, more.clone()).await;
        assert_eq!(early.error(), (409, "NOT_PUSHED"), "{early:?}");
        let target = format!("{next}:refs/heads/{}", work_branch.unwrap_or("main"));
        agent.git(&["push", "--quiet", "origin", &target]);
        let done = open(&instance, &commit, more).await;
        assert_eq!(done.status, 200, "{work_branch:?} {done:?}");
        assert!(!cloud.is_locked("src/a.ts").await);
    }
}

/// GitHub names 300 changed files at most.
#[tokio::test]
async fn of_more_files_than_github_names_none_counts_as_unchanged() {
    let (cloud, instance) = claimed().await;
    cloud.repo.git(&["checkout", "--quiet", "-b", "side"]);
    let names: Vec<String> = (0..301).map(|number| format!("f{number:03}.ts")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let beside = cloud.repo.commit(&files);
    let more = json!({"file_paths": ["src/b.ts"]});
    let refused = open(&instance, &beside, more).await;
    assert_eq!(
        (refused.error(), refused.action()),
        ((409, "NOT_PUSHED"), "PUSH"),
        "{refused:?}"
    );
    let unpushed = &refused.body["orchestration"]["metadata"]["unpushed"];
    assert_eq!(unpushed, &json!(["src/b.ts"]));
    let abandon = json!({"file_paths": ["src/b.ts"], "abandon": true});
    assert_eq!(open(&instance, &beside, abandon).await.status, 200);
    assert!(!cloud.is_locked("src/b.ts").await);
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
async fn after_a_reset_a_commit_from_before_the_claim_is_no_push() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let older = cloud.repo.commit(&[("src/a.ts", "export const a = 1.5;\n")]);
    let base = cloud.repo.commit(&[("src/a.ts", "export const a = 2;\n")]);
    let claimed = instance.post(&jwt("ann"), json!({"agent_head": base})).await;
    assert_eq!(claimed.status, 200, "{claimed:?}");
    cloud.repo.git(&["reset", "--quiet", "--hard", &older]);
    for (old, questions) in [(&older, 1), (&cloud.head, 2)] {
        cloud.fake.seen();
        let refused = open(&instance, old, json!({})).await;
        assert_eq!(refused.error(), (409, "NOT_PUSHED"), "{refused:?}");
        let why = refused.body["orchestration"]["reason"].as_str().unwrap();
        assert!(why.contains("was already on origin/main when you claimed"), "{why}");
        assert_eq!(asked_to_compare(&cloud), questions, "{old}");
    }
    let anew = cloud.repo.commit(&[("src/a.ts", "export const a = 3;\n")]);
    cloud.fake.seen();
    let done = open(&instance, &anew, json!({})).await;
    assert_eq!(done.status, 200, "{done:?}");
    assert_eq!(asked_to_compare(&cloud), 1);
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
    let reason = refused.body["orchestration"]["reason"].as_str().unwrap();
    assert!(
        reason.contains("it is unknown whether") && reason.contains("base_head"),
        "{reason}"
    );
    assert!(!cloud.is_locked("src/new.ts").await);
    // The answer also names files that another agent writes.
    let head = cloud.repo.git(&["rev-parse", "HEAD"]);
    let of_bob = json!({"file_paths": ["src/c.ts"], "agent_head": head});
    assert_eq!(instance.post(&jwt("bob"), of_bob).await.status, 200);
    let held = json!({"file_paths": ["src/c.ts"], "agent_head": own["agent_head"]});
    let refused = instance.post(&jwt("ann"), held).await;
    assert_eq!(refused.error(), (409, "STALE_HEAD"), "{refused:?}");
    let conflicts = &refused.body["orchestration"]["metadata"]["conflicts"];
    assert_eq!(conflicts, &json!(["src/c.ts"]), "{refused:?}");
}

#[tokio::test]
async fn files_of_four_heads_are_given_back_at_once_and_those_of_a_fifth_in_a_further_request() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let files: Vec<String> = (1..=5).map(|number| format!("f{number}.ts")).collect();
    let mut head = cloud.head.clone();
    for file in &files {
        let claim = json!({"file_paths": [file], "agent_head": head});
        assert_eq!(instance.post(&jwt("ann"), claim).await.status, 200);
        head = cloud.repo.commit(&[("other.ts", file)]);
        cloud.age_head(60).await;
    }
    let contents: Vec<(&str, &str)> = files.iter().map(|file| (file.as_str(), "1")).collect();
    assert_eq!(
        instance.check(&jwt("bob"), json!({"agent_head": head})).await.status,
        200
    );
    let pushed = cloud.repo.commit(&contents);
    cloud.fake.seen();
    let refused = open(&instance, &pushed, json!({"file_paths": files})).await;
    assert_eq!(refused.error(), (409, "NOT_PUSHED"), "{refused:?}");
    let why = refused.body["orchestration"]["reason"].as_str().unwrap();
    let expected = "the files were claimed at more heads of the branch than one request checks. Your locks are kept: release \
                    fewer files at once";
    assert!(why.contains(expected), "{why}");
    let unpushed = &refused.body["orchestration"]["metadata"]["unpushed"];
    assert_eq!(unpushed.as_array().unwrap().len(), 1, "{unpushed}");
    assert_eq!(asked_to_compare(&cloud), 4);
    let fifth = unpushed[0].as_str().unwrap();
    let rest: Vec<&String> = files.iter().filter(|file| *file != fifth).collect();
    for files in [json!(rest), json!([fifth])] {
        let done = open(&instance, &pushed, json!({"file_paths": files})).await;
        assert_eq!(done.status, 200, "{done:?}");
    }
}

#[tokio::test]
async fn work_on_a_branch_takes_two_questions_and_its_interfaces_two_trees_and_their_blobs() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let files = json!(["src/a.ts", "src/b.ts"]);
    let head = cloud.repo.commit(&[("src/b.ts", "export const b = 1;\n")]);
    let claim = json!({"file_paths": files, "agent_head": head, "work_branch": "pool"});
    assert_eq!(instance.post(&jwt("ann"), claim).await.status, 200);
    cloud.repo.git(&["checkout", "--quiet", "-b", "pool"]);
    cloud.repo.git(&["rm", "--quiet", "src/b.ts"]);
    let pushed = cloud.repo.commit(&[("src/a.ts", "export const a = 2;\n")]);
    let more = json!({"file_paths": files, "work_branch": "pool"});
    // A commit that GitHub does not have is looked for on the branch, and not on the work branch behind its head.
    cloud.fake.seen();
    let early = open(&instance, &"7".repeat(40), more.clone()).await;
    assert_eq!(early.error(), (409, "NOT_PUSHED"), "{early:?}");
    assert_eq!(asked_to_compare(&cloud), 1);
    let done = open(&instance, &pushed, more).await;
    assert_eq!(done.status, 200, "{done:?}");
    let mut asked = cloud.fake.asked();
    asked.retain(|target| !target.starts_with("/commits/heads/"));
    let count = |kind: &str| asked.iter().filter(|target| target.starts_with(kind)).count();
    assert_eq!(
        (
            count("/compare/"),
            count("/git/trees/"),
            count("/git/blobs/"),
            asked.len()
        ),
        (2, 2, 3, 7),
        "{asked:?}"
    );
    // Two changes are pending: the blob of one file, and the removal of the other.
    let pending = cloud
        .command(["HGETALL", "coord:pending:{127.0.0.1/acme/widgets}"])
        .await;
    let pending = pending.as_array().unwrap().iter().filter_map(|value| value.as_str());
    let pending: String = pending.collect();
    let blob = cloud.repo.git(&["rev-parse", "pool:src/a.ts"]);
    for expected in [blob.trim(), ""] {
        assert!(pending.contains(&format!("\"blob\":\"{expected}\"")), "{pending}");
    }
}

#[tokio::test]
async fn a_file_tracked_in_decomposed_characters_needs_its_push() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let tracked = "gro\u{308}\u{df}e.ts";
    let base = cloud.repo.commit(&[(tracked, "export const a = 1;\n")]);
    let files = json!([tracked]);
    let claim = json!({"file_paths": files, "agent_head": base});
    let claim = instance.post(&jwt("ann"), claim).await;
    assert_eq!(claim.status, 200, "{claim:?}");
    cloud.repo.git(&["checkout", "--quiet", "-b", "side"]);
    let local = cloud.repo.commit(&[(tracked, "export const a = 2;\n")]);
    cloud.repo.git(&["checkout", "--quiet", "main"]);
    let others = cloud.repo.commit(&[("other.ts", "")]);
    cloud.age_head(60).await;
    for new_head in [&local, &others] {
        let refused = open(&instance, new_head, json!({"file_paths": files, "agent_head": local})).await;
        assert_eq!(refused.error(), (409, "NOT_PUSHED"), "{refused:?}");
        let unpushed = &refused.body["orchestration"]["metadata"]["unpushed"];
        assert_eq!(unpushed, &json!(["gr\u{f6}\u{df}e.ts"]));
    }
    assert!(cloud.is_locked("gr\u{f6}\u{df}e.ts").await);
    let pushed = cloud.repo.commit(&[(tracked, "export const a = 3;\n")]);
    let done = open(&instance, &pushed, json!({"file_paths": files})).await;
    assert_eq!((done.status, done.warns_of("UNCHANGED")), (200, false), "{done:?}");
}
