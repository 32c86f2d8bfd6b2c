//! A path that differs from a tracked one in case alone, by the graph of the branch.

use std::sync::Arc;

use coord_builds::job::{Job, LastBuild};
use coord_builds::leased_build::build_and_publish;
use coord_domain::LockMode::{Reading, Writing};
use coord_graph::Limits;
use coord_state::builds::BuildLease;
use coord_state::locks::{SpellingHint, Survey};
use coord_test_support::memory::Memory;

use crate::world::{HEAD, NEXT, World, stale};

on_every_store!(
    a_path_that_differs_from_a_tracked_one_only_in_case_lists_the_tracked_one,
    spellings_follow_the_graph_through_patches,
    a_check_without_a_graph_lists_no_spelling,
);

/// Builds the graph of `tracked`, by what differs from `last` where that is something.
async fn build(world: &World, tracked: &[&str], last: &mut Option<LastBuild>) {
    let source = Memory::new(tracked.iter().map(|path| ((*path).to_owned(), String::new())));
    let commit = source.commit();
    let job = Job {
        repo: &world.repo,
        branch: &world.branch,
        commit: &commit,
        builder: "one",
        limits: Limits::default(),
    };
    let lease = build_and_publish(Arc::clone(&world.store), &*source, job, last, None).await;
    assert_eq!(lease.unwrap(), BuildLease::Granted);
}

/// `Auth.ts: auth.ts`: each requested file that is tracked under other spellings, and those.
fn spelled(survey: &Survey) -> Vec<String> {
    let line = |spelled: &SpellingHint| format!("{}: {}", spelled.file_path, spelled.tracked.join(" "));
    let differing = survey.spelled.iter().filter(|file| !file.tracked.is_empty());
    differing.map(line).collect()
}

/// The requested files that are tracked under no spelling.
fn new(survey: &Survey) -> Vec<&str> {
    let new = survey.spelled.iter().filter(|file| file.tracked.is_empty());
    new.map(|file| file.file_path.as_str()).collect()
}

// rule: locks#case
async fn a_path_that_differs_from_a_tracked_one_only_in_case_lists_the_tracked_one(world: World) {
    let tracked = [
        "README.md",
        "src/auth.ts",
        "src/Button.tsx",
        "src/Größe.ts",
        "both/a.py",
        "both/A.py",
        "Sources/App/main.go",
        "docs/guide.txt",
    ];
    build(&world, &tracked, &mut None).await;
    let ann = world.agent("ann");
    for path in tracked {
        assert_eq!(ann.checks(Writing, &[path]).await.spelled, [], "{path} is tracked");
    }
    let expected = [
        ("readme.md", "README.md"),
        ("src/Auth.ts", "src/auth.ts"),
        ("SRC/AUTH.TS", "src/auth.ts"),
        ("src/button.tsx", "src/Button.tsx"),
        ("Src/Button.tsx", "src/Button.tsx"),
        ("src/gRÖßE.ts", "src/Größe.ts"),
        ("BOTH/A.py", "both/A.py both/a.py"),
        ("sources/App/main.go", "Sources/App/main.go"),
        ("Docs/guide.txt", "docs/guide.txt"),
    ];
    for (path, tracked) in expected {
        let expected_lines = [format!("{path}: {tracked}")];
        assert_eq!(spelled(&ann.checks(Reading, &[path]).await), expected_lines);
    }
    for path in [
        "src/auth.tsx",
        "src/auth",
        "readme",
        "Auth.ts",
        "New.ts",
        "both/b.py",
        "src/Groesse.ts",
    ] {
        let survey = ann.checks(Writing, &[path]).await;
        assert_eq!((spelled(&survey), new(&survey)), (Vec::new(), vec![path]));
    }

    // A claim says it whether it is granted, refused or stale, of all its files at once.
    let files = ["src/Auth.ts", "src/Button.tsx", "src/new.ts", "readme.md"];
    let expected_lines = ["src/Auth.ts: src/auth.ts", "readme.md: README.md"];
    assert_eq!(spelled(&ann.writes(&files).await), expected_lines);
    let refused = world.agent("bob").is_refused(Writing, &files).await;
    assert_eq!(spelled(&refused), expected_lines);
    let behind = world.agent("cid").while_branch_is_at(NEXT);
    let refused = stale(behind.claim(Writing, &files).await);
    assert_eq!(spelled(&refused), expected_lines);

    let many: Vec<String> = (0..512).map(|number| format!("src/N{number}.ts")).collect();
    let survey = ann.checks(Writing, &many).await;
    assert_eq!((spelled(&survey).len(), new(&survey).len()), (0, 512));
}

async fn spellings_follow_the_graph_through_patches(world: World) {
    let (ann, mut last) = (world.agent("ann"), None);
    let paths = ["src/auth.ts", "src/Auth.ts", "src/AUTH.ts", "other.ts"];
    let steps: [(&[&str], &[&str]); 6] = [
        (
            &["other.ts", "src/auth.ts"],
            &["src/Auth.ts: src/auth.ts", "src/AUTH.ts: src/auth.ts"],
        ),
        // Renamed in case alone.
        (
            &["other.ts", "src/Auth.ts"],
            &["src/auth.ts: src/Auth.ts", "src/AUTH.ts: src/Auth.ts"],
        ),
        // A second spelling comes.
        (
            &["other.ts", "src/Auth.ts", "src/auth.ts"],
            &["src/AUTH.ts: src/Auth.ts src/auth.ts"],
        ),
        // The first one goes.
        (
            &["other.ts", "src/auth.ts"],
            &["src/Auth.ts: src/auth.ts", "src/AUTH.ts: src/auth.ts"],
        ),
        // All of them go.
        (&["other.ts"], &[]),
        (&["OTHER.ts"], &["other.ts: OTHER.ts"]),
    ];
    for (tracked, expected) in steps {
        build(&world, tracked, &mut last).await;
        assert_eq!(spelled(&ann.checks(Writing, &paths).await), expected, "{tracked:?}");
    }
}

async fn a_check_without_a_graph_lists_no_spelling(world: World) {
    let survey = world.agent("ann").at(HEAD).checks(Writing, &["SRC/Auth.ts"]).await;
    assert_eq!((spelled(&survey).len(), survey.graph_version), (0, None));
}
