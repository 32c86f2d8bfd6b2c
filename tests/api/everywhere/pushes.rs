//! OPEN lets go of pushed work, and of no other.

use serde_json::json;

use super::{World, refusal, refused, warnings};

everywhere!(
    a_commit_off_the_branch_or_before_the_claim_is_no_push,
    a_file_that_is_as_it_was_is_released_with_a_warning,
    a_file_tracked_in_decomposed_characters_needs_its_push,
    after_a_reset_a_commit_from_before_the_claim_is_no_push,
);

const FILES: [&str; 2] = ["src/auth.ts", "src/db.ts"];

// rule: locks#pushed
async fn a_commit_off_the_branch_or_before_the_claim_is_no_push(world: World) {
    let (api, origin) = (&world.api, &world.origin);
    // A line beside the branch, which is merged after the claim.
    origin.git(&["checkout", "--quiet", "-b", "side", &api.first]);
    let side = origin.commit(&[("side.md", "Beside")]);
    origin.git(&["checkout", "--quiet", "main"]);
    api.claim("ann", "WRITING", &FILES).await;
    origin.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "side"]);
    let others = world.others_push(&[("other.md", "Somebody else's")]).await;
    // Its push to the branch was rejected.
    let own = api.git.commit(&[("src/auth.ts", "export const mine = 1;\n")]);
    api.git.git(&["push", "--quiet", "origin", "HEAD:refs/heads/own"]);
    let unknown = "7".repeat(40);
    for (new_head, agent_head, why, files) in [
        (&api.head, &api.head, "origin/main is still at", &FILES[..]),
        (
            &api.first,
            &api.first,
            "was already on origin/main when you claimed",
            &FILES,
        ),
        (&side, &side, "does not descend from the head at your claim", &FILES),
        (&own, &own, "is not on origin/main", &FILES[..1]),
        (&others, &own, "your working copy is at", &FILES[..1]),
        (&others, &unknown, "your working copy is at", &FILES),
    ] {
        let more = json!({ "new_repo_head": new_head, "agent_head": agent_head });
        let content = |commit: &str| FILES.map(|file| api.git.try_git(&["rev-parse", &format!("{commit}:{file}")]));
        if world.is_clone() && new_head != &api.head && content(agent_head) == content(&api.head) {
            // In a clone it is seen that the files are as the branch has them, so nothing is left to push.
            continue;
        }
        let answer = api.post_status("ann", "OPEN", &FILES, more).await;
        assert_eq!(
            refused(&answer),
            refusal(409, "NOT_PUSHED", "PUSH"),
            "{why}: {}",
            answer.json()
        );
        let orchestration = &answer.json()["orchestration"];
        let reason = orchestration["reason"].as_str().unwrap();
        assert!(
            reason.contains(why) && reason.contains("abandon the work"),
            "{why}: {reason}"
        );
        assert_eq!(orchestration["metadata"]["unpushed"], json!(files), "{why}");
    }
    assert_eq!(api.held().await, 2);
    // A file without work needs no push, and a push is not the only way out.
    let unchanged = world.open("ann", &FILES[1..], &own).await;
    assert_eq!(unchanged.status, 200, "{}", unchanged.json());
    assert!(warnings(&unchanged, "UNCHANGED").contains("'src/db.ts'"));
    let abandoned = api
        .post_status("ann", "OPEN", &FILES[..1], json!({ "abandon": true }))
        .await;
    assert_eq!((abandoned.status, api.held().await), (200, 0), "{}", abandoned.json());

    // The same work, merged as another commit.
    let again = api
        .post_status("ann", "WRITING", &FILES, json!({ "agent_head": others }))
        .await;
    assert_eq!(again.status, 200, "{}", again.json());
    let squashed = world.others_push(&[("src/auth.ts", "export const mine = 1;\n")]).await;
    let more = json!({ "new_repo_head": squashed, "agent_head": own });
    let merged = api.post_status("ann", "OPEN", &FILES, more).await;
    assert_eq!((merged.status, api.held().await), (200, 0), "{}", merged.json());
    assert!(!warnings(&merged, "UNCHANGED").contains("src/auth.ts"));
}

// rule: locks#unchanged
async fn a_file_that_is_as_it_was_is_released_with_a_warning(world: World) {
    let api = &world.api;
    let mut head = api.head.clone();
    // GitHub is asked about the push, or the store has known it before: the warning is the same.
    for is_known in [false, true] {
        let more = json!({ "agent_head": head });
        assert_eq!(api.post_status("ann", "WRITING", &FILES, more).await.status, 200);
        let more = json!({ "agent_head": head, "interface": "keeps" });
        assert_eq!(
            api.post_status("ann", "WRITING", &["src/page.ts"], more).await.status,
            200
        );
        let pushed = world.push(&[("src/auth.ts", &format!("export const known = {is_known};\n"))]);
        if is_known {
            world.fetch("main").await;
            let checked = api
                .check("bob", &["README.md"], json!({ "agent_head": pushed }))
                .await
                .json();
            assert_eq!(checked["repo_head"], json!(pushed));
        }
        world.requested_paths();
        let paths = ["src/auth.ts", "src/db.ts", "src/page.ts"];
        let done = world.open("ann", &paths, &pushed).await;
        assert_eq!((done.status, api.held().await), (200, 0), "{}", done.json());
        let warning = warnings(&done, "UNCHANGED");
        assert!(
            warning.contains("'src/db.ts'") && warning.contains("'src/page.ts'"),
            "{is_known}: {}",
            done.json()
        );
        assert!(!warning.contains("'src/auth.ts'"), "{warning}");
        let requests = world.requested_paths();
        let compared = requests.iter().filter(|target| target.starts_with("/compare/")).count();
        assert_eq!(
            compared,
            usize::from(world.github().is_some()),
            "{is_known}: {requests:?}"
        );
        assert_eq!(
            world.open("ann", &paths, &pushed).await.json(),
            done.json(),
            "asked again"
        );
        head = pushed;
    }
}

async fn a_file_tracked_in_decomposed_characters_needs_its_push(world: World) {
    let api = &world.api;
    let (tracked, composed) = ("gro\u{308}\u{df}e.ts", "gr\u{f6}\u{df}e.ts");
    let base = world.push(&[(tracked, "export const a = 1;\n")]);
    world.fetch("main").await;
    let claim = api
        .post_status("ann", "WRITING", &[tracked], json!({ "agent_head": base }))
        .await;
    assert_eq!(claim.status, 200, "{}", claim.json());
    let local = api.git.commit(&[(tracked, "export const a = 2;\n")]);
    let others = world.others_push(&[("other.md", "Somebody else's")]).await;
    for new_head in [&local, &others] {
        let more = json!({ "new_repo_head": new_head, "agent_head": local });
        let kept = api.post_status("ann", "OPEN", &[tracked], more).await;
        assert_eq!(refused(&kept), refusal(409, "NOT_PUSHED", "PUSH"), "{}", kept.json());
        assert_eq!(kept.json()["orchestration"]["metadata"]["unpushed"], json!([composed]));
    }
    assert_eq!(api.held().await, 1);
    let pushed = world.others_push(&[(tracked, "export const a = 3;\n")]).await;
    let done = world.open("ann", &[tracked], &pushed).await;
    assert_eq!(
        (done.status, warnings(&done, "UNCHANGED").as_str()),
        (200, ""),
        "{}",
        done.json()
    );
}

// rule: locks#reset-branch
async fn after_a_reset_a_commit_from_before_the_claim_is_no_push(world: World) {
    let api = &world.api;
    let older = world.others_push(&[("src/auth.ts", "export const a = 1;\n")]).await;
    let base = world.others_push(&[("src/auth.ts", "export const a = 2;\n")]).await;
    let claim = api
        .post_status("ann", "WRITING", &["src/auth.ts"], json!({ "agent_head": base }))
        .await;
    assert_eq!(claim.status, 200, "{}", claim.json());
    world.origin.git(&["reset", "--quiet", "--hard", &older]);
    if world.is_clone() {
        world.fetch("main").await;
    }
    for (old, questions) in [(&older, 1), (&api.head, 2)] {
        world.requested_paths();
        let kept = world.open("ann", &["src/auth.ts"], old).await;
        assert_eq!(refused(&kept), refusal(409, "NOT_PUSHED", "PUSH"), "{}", kept.json());
        let reason = kept.json()["orchestration"]["reason"].to_string();
        assert!(
            reason.contains("was already on origin/main when you claimed"),
            "{reason}"
        );
        let compared = world
            .requested_paths()
            .iter()
            .filter(|target| target.starts_with("/compare/"))
            .count();
        assert_eq!(compared, if world.is_clone() { 0 } else { questions }, "{old}");
    }
    let anew = world.others_push(&[("src/auth.ts", "export const a = 3;\n")]).await;
    let done = world.open("ann", &["src/auth.ts"], &anew).await;
    assert_eq!((done.status, api.held().await), (200, 0), "{}", done.json());
}
