//! Releases after a push, where the repository is on GitHub.

use serde_json::{Value, json};

use crate::cloud::{Answer, Cloud, Instance, jwt, merged};
use crate::commit_all;
use coord_test_support::git::Repo;

/// A cloud, an instance, and ann, who writes two files.
async fn claimed() -> (Cloud, Instance) {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let both = json!({"file_paths": ["src/a.ts", "src/b.ts"]});
    instance.post(&jwt("ann"), both).await.expect_ok();
    cloud.fake.seen();
    (cloud, instance)
}

async fn open(instance: &Instance, new_head: &str, more: Value) -> Answer {
    let body = json!({"status": "OPEN", "new_repo_head": new_head, "agent_head": new_head});
    instance.post(&jwt("ann"), merged(body, &more)).await
}

#[tokio::test]
async fn a_repeated_release_sends_github_no_request() {
    let (cloud, instance) = claimed().await;
    let next = cloud.repo.commit(&[("src/a.ts", "export const a = 2;\n")]);
    let files = json!({"file_paths": ["src/a.ts", "src/b.ts"]});
    let done = open(&instance, &next, files.clone()).await.expect_ok();
    assert_eq!(cloud.count_requests("/compare/"), 1, "{done:?}");
    // Not even when bob holds one of the files by then.
    cloud.age_head(60).await;
    let of_bob = instance.post(&jwt("bob"), json!({"agent_head": next})).await;
    of_bob.expect_ok();
    cloud.fake.seen();
    assert_eq!(open(&instance, &next, files).await.body, done.body);
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
}

/// A check asks about a commit before it is pushed, and what GitHub does not have is remembered for a minute.
#[tokio::test]
async fn a_push_counts_at_once_even_if_github_was_asked_about_the_commit_before() {
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
        early.expect_error(409, "NOT_PUSHED");
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
    let beside = commit_all(
        &cloud.repo,
        (0..301).map(|number| (format!("f{number:03}.ts"), String::new())),
    );
    let refused = open(&instance, &beside, json!({"file_paths": ["src/b.ts"]})).await;
    let refused = refused.expect_error(409, "NOT_PUSHED");
    assert_eq!(refused.action(), "PUSH", "{refused:?}");
    let unpushed = &refused.body["orchestration"]["metadata"]["unpushed"];
    assert_eq!(unpushed, &json!(["src/b.ts"]));
    let abandon = json!({"file_paths": ["src/b.ts"], "abandon": true});
    open(&instance, &beside, abandon).await.expect_ok();
    assert!(!cloud.is_locked("src/b.ts").await);
}

#[tokio::test]
async fn history_that_was_written_anew_is_no_dead_end() {
    let (cloud, instance) = claimed().await;
    cloud
        .repo
        .git(&["commit", "--quiet", "--amend", "--allow-empty", "--message", "Anew"]);
    let unrelated = cloud.repo.commit(&[("src/a.ts", "export const a = 4;\n")]);
    // Not even the first commit is common to both: GitHub cannot compare them.
    let refused = open(&instance, &unrelated, json!({})).await;
    refused.expect_error(409, "NOT_PUSHED");
    let done = open(&instance, &unrelated, json!({"abandon": true})).await;
    done.expect_ok();
}

#[tokio::test]
async fn a_release_covers_files_claimed_at_four_heads_and_a_fifth_needs_another_request() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let files: Vec<String> = (1..=5).map(|number| format!("f{number}.ts")).collect();
    let mut head = cloud.head.clone();
    for file in &files {
        let claim = json!({"file_paths": [file], "agent_head": head});
        instance.post(&jwt("ann"), claim).await.expect_ok();
        head = cloud.repo.commit(&[("other.ts", file)]);
        cloud.age_head(60).await;
    }
    let checked = instance.check(&jwt("bob"), json!({"agent_head": head})).await;
    checked.expect_ok();
    let pushed = commit_all(&cloud.repo, files.iter().map(|file| (file.clone(), "1".to_owned())));
    cloud.fake.seen();
    let refused = open(&instance, &pushed, json!({"file_paths": files})).await;
    let refused = refused.expect_error(409, "NOT_PUSHED");
    let why = refused.body["orchestration"]["reason"].as_str().unwrap();
    let expected = "the files were claimed at more heads of the branch than one request checks. Your locks are kept: release \
                    fewer files at once";
    assert!(why.contains(expected), "{why}");
    let unpushed = &refused.body["orchestration"]["metadata"]["unpushed"];
    assert_eq!(unpushed.as_array().unwrap().len(), 1, "{unpushed}");
    assert_eq!(cloud.count_requests("/compare/"), 4);
    let fifth = unpushed[0].as_str().unwrap();
    let rest: Vec<&String> = files.iter().filter(|file| *file != fifth).collect();
    for files in [json!(rest), json!([fifth])] {
        let done = open(&instance, &pushed, json!({"file_paths": files})).await;
        done.expect_ok();
    }
}

#[tokio::test]
async fn work_on_a_branch_takes_two_questions_and_its_interfaces_two_trees_and_their_blobs() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let files = json!(["src/a.ts", "src/b.ts"]);
    let head = cloud.repo.commit(&[("src/b.ts", "export const b = 1;\n")]);
    let claim = json!({"file_paths": files, "agent_head": head, "work_branch": "pool"});
    instance.post(&jwt("ann"), claim).await.expect_ok();
    cloud.repo.git(&["checkout", "--quiet", "-b", "pool"]);
    cloud.repo.git(&["rm", "--quiet", "src/b.ts"]);
    let pushed = cloud.repo.commit(&[("src/a.ts", "export const a = 2;\n")]);
    let more = json!({"file_paths": files, "work_branch": "pool"});
    // A commit that GitHub does not have is looked for on the branch, and not on the work branch behind its head.
    cloud.fake.seen();
    let early = open(&instance, &"7".repeat(40), more.clone()).await;
    early.expect_error(409, "NOT_PUSHED");
    assert_eq!(cloud.count_requests("/compare/"), 1);
    open(&instance, &pushed, more).await.expect_ok();
    let mut requests = cloud.fake.requested_paths();
    requests.retain(|target| !target.starts_with("/commits/heads/"));
    let count = |kind: &str| requests.iter().filter(|target| target.starts_with(kind)).count();
    let counts = ["/compare/", "/git/trees/", "/git/blobs/", ""].map(count);
    assert_eq!(counts, [2, 2, 3, 7], "{requests:?}");
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
