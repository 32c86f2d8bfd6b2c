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

fn compare_requests(cloud: &Cloud) -> usize {
    let requests = cloud.fake.requested_paths();
    requests.iter().filter(|target| target.starts_with("/compare/")).count()
}

#[tokio::test]
async fn a_repeated_release_sends_github_no_request() {
    let (cloud, instance) = claimed().await;
    let next = cloud.repo.commit(&[("src/a.ts", "export const a = 2;\n")]);
    let files = json!({"file_paths": ["src/a.ts", "src/b.ts"]});
    let done = open(&instance, &next, files.clone()).await;
    assert_eq!((done.status, compare_requests(&cloud)), (200, 1), "{done:?}");
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
}

#[tokio::test]
async fn a_release_covers_files_claimed_at_four_heads_and_a_fifth_needs_another_request() {
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
    assert_eq!(compare_requests(&cloud), 4);
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
    assert_eq!(compare_requests(&cloud), 1);
    let done = open(&instance, &pushed, more).await;
    assert_eq!(done.status, 200, "{done:?}");
    let mut requests = cloud.fake.requested_paths();
    requests.retain(|target| !target.starts_with("/commits/heads/"));
    let count = |kind: &str| requests.iter().filter(|target| target.starts_with(kind)).count();
    assert_eq!(
        (
            count("/compare/"),
            count("/git/trees/"),
            count("/git/blobs/"),
            requests.len()
        ),
        (2, 2, 3, 7),
        "{requests:?}"
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
