//! OPEN releases pushed work, and no other.

use serde_json::json;

use super::{World, warnings};

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
    let before = "was already on origin/main when you claimed";
    for (new_head, agent_head, why, files) in [
        (&api.head, &api.head, "origin/main is still at", &FILES[..]),
        (&api.first, &api.first, before, &FILES),
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
        let kept = api.post_status("ann", "OPEN", &FILES, more).await;
        let body = kept.expect("409 NOT_PUSHED PUSH");
        let reason = kept.reason();
        assert!(
            reason.contains(why) && reason.contains("abandon the work"),
            "{why}: {reason}"
        );
        assert_eq!(body["orchestration"]["metadata"]["unpushed"], json!(files), "{why}");
    }
    assert_eq!(api.held().await, 2);
    // A file without work needs no push, and a push is not the only way out.
    let unchanged = world.open("ann", &FILES[1..], &own).await;
    unchanged.expect("200");
    assert!(warnings(&unchanged, "UNCHANGED").contains("'src/db.ts'"));
    api.abandon("ann", &FILES[..1]).await.expect("200");
    assert_eq!(api.held().await, 0);

    // The same work, merged as another commit.
    api.granted("ann", "WRITING", &FILES, json!({ "agent_head": others }))
        .await;
    let squashed = world.others_push(&[("src/auth.ts", "export const mine = 1;\n")]).await;
    let more = json!({ "new_repo_head": squashed, "agent_head": own });
    let merged = api.post_status("ann", "OPEN", &FILES, more).await;
    merged.expect("200");
    assert_eq!(api.held().await, 0);
    assert!(!warnings(&merged, "UNCHANGED").contains("src/auth.ts"));
}

// rule: locks#unchanged
async fn a_file_that_is_as_it_was_is_released_with_a_warning(world: World) {
    let api = &world.api;
    let mut head = api.head.clone();
    // GitHub is asked about the push, or the store has known it before: the warning is the same.
    for is_known in [false, true] {
        let at_head = json!({ "agent_head": head });
        api.granted("ann", "WRITING", &FILES, at_head).await;
        let keeps = json!({ "agent_head": head, "interface": "keeps" });
        api.granted("ann", "WRITING", &["src/page.ts"], keeps).await;
        let pushed = world.push(&[("src/auth.ts", &format!("export const known = {is_known};\n"))]);
        if is_known {
            world.fetch("main").await;
            let at_pushed = json!({ "agent_head": pushed });
            let checked = api.check("bob", &["README.md"], at_pushed).await.json();
            assert_eq!(checked["repo_head"], json!(pushed));
        }
        world.requested_paths();
        let paths = ["src/auth.ts", "src/db.ts", "src/page.ts"];
        let done = world.open("ann", &paths, &pushed).await;
        done.expect("200");
        assert_eq!(api.held().await, 0);
        let warning = warnings(&done, "UNCHANGED");
        let is_named = paths.map(|path| warning.contains(&format!("'{path}'")));
        assert_eq!(is_named, [false, true, true], "{is_known}: {}", done.json());
        assert_eq!(world.comparisons(), usize::from(!world.is_clone()), "{is_known}");
        let again = world.open("ann", &paths, &pushed).await;
        assert_eq!(again.json(), done.json(), "asked again");
        head = pushed;
    }
}

async fn a_file_tracked_in_decomposed_characters_needs_its_push(world: World) {
    let api = &world.api;
    let (tracked, composed) = ("gro\u{308}\u{df}e.ts", "gr\u{f6}\u{df}e.ts");
    let base = world.push(&[(tracked, "export const a = 1;\n")]);
    world.fetch("main").await;
    api.granted("ann", "WRITING", &[tracked], json!({ "agent_head": base }))
        .await;
    let local = api.git.commit(&[(tracked, "export const a = 2;\n")]);
    let others = world.others_push(&[("other.md", "Somebody else's")]).await;
    for new_head in [&local, &others] {
        let more = json!({ "new_repo_head": new_head, "agent_head": local });
        let kept = api.post_status("ann", "OPEN", &[tracked], more).await;
        let body = kept.expect("409 NOT_PUSHED PUSH");
        assert_eq!(body["orchestration"]["metadata"]["unpushed"], json!([composed]));
    }
    assert_eq!(api.held().await, 1);
    let pushed = world.others_push(&[(tracked, "export const a = 3;\n")]).await;
    let done = world.open("ann", &[tracked], &pushed).await;
    done.expect("200");
    assert_eq!(warnings(&done, "UNCHANGED"), "");
}

// rule: locks#reset-branch
async fn after_a_reset_a_commit_from_before_the_claim_is_no_push(world: World) {
    let api = &world.api;
    let older = world.others_push(&[("src/auth.ts", "export const a = 1;\n")]).await;
    let base = world.others_push(&[("src/auth.ts", "export const a = 2;\n")]).await;
    api.granted("ann", "WRITING", &["src/auth.ts"], json!({ "agent_head": base }))
        .await;
    world.origin.git(&["reset", "--quiet", "--hard", &older]);
    if world.is_clone() {
        world.fetch("main").await;
    }
    for (old, comparisons) in [(&older, 1), (&api.head, 2)] {
        world.requested_paths();
        let kept = world.open("ann", &["src/auth.ts"], old).await;
        kept.expect("409 NOT_PUSHED PUSH");
        let reason = kept.reason();
        assert!(
            reason.contains("was already on origin/main when you claimed"),
            "{reason}"
        );
        let expected = if world.is_clone() { 0 } else { comparisons };
        assert_eq!(world.comparisons(), expected, "{old}");
    }
    let anew = world.others_push(&[("src/auth.ts", "export const a = 3;\n")]).await;
    world.open("ann", &["src/auth.ts"], &anew).await.expect("200");
    assert_eq!(api.held().await, 0);
}
