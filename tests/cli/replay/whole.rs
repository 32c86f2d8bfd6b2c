//! Whole runs.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use coord_test_support::git::Repo;

use super::account::edit;
use coord_test_worlds::replay::account::{Account, TaskRun};
use coord_test_worlds::replay::branch::Base;
use coord_test_worlds::replay::conflicts::Conflicts;
use coord_test_worlds::replay::history::History;
use coord_test_worlds::replay::interfaces::Interfaces;
use coord_test_worlds::replay::mode::{Hold, Mode, RefusalHabit, Rules, Shared};
use coord_test_worlds::replay::stage::{Outcome, Stage};
use coord_test_worlds::replay::{Options, replay};

/// A page that imports a module that imports a store. Each commit changes one of them, or the manifest as well.
fn repository(folder: &Path) -> Repo {
    let repo = Repo::init(folder, &[]);
    let [page, shop, db] = ["page.ts", "shop.ts", "db.ts"];
    let page_of = |text: &str| {
        format!("import {{ shop }} from './shop';\nexport const page = () => {{ shop(); return {text}; }};\n")
    };
    let shop_of = |parameter: &str, text: &str| {
        format!("import {{ db }} from './db';\nexport const shop = ({parameter}) => {{ db(); return {text}; }};\n")
    };
    let db_of = |parameter: &str, text: &str| format!("export function db({parameter}) {{ return {text}; }}\n");
    repo.commit(&[
        (page, &page_of("0")),
        (shop, &shop_of("", "0")),
        (db, &db_of("", "0")),
        ("package.json", "{ \"version\": 0 }\n"),
    ]);
    for round in 1..4 {
        let (text, version) = (round.to_string(), format!("{{ \"version\": {round} }}\n"));
        repo.commit(&[(page, &page_of(&text)), ("package.json", &version)]);
        repo.commit(&[(shop, &shop_of("", &text))]);
        repo.commit(&[
            (db, &db_of(&format!("x{round}?: number"), &text)),
            ("package.json", &version.replace(' ', "  ")),
        ]);
        repo.commit(&[(shop, &shop_of(&format!("y{round}?: number"), &text))]);
    }
    repo
}

/// The history of [`repository`], on which to play.
async fn on<T>(play: impl AsyncFnOnce(Stage<'_>) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    repository(folder.path());
    on_the_last(12, folder.path(), play).await
}

/// The last commits of the repository in `folder`, on which to play.
async fn on_the_last<T>(commits: usize, folder: &Path, play: impl AsyncFnOnce(Stage<'_>) -> T) -> T {
    let history = History::read(folder, "HEAD", commits).unwrap();
    let base = Arc::new(Base::open(folder, &history).await.unwrap());
    play(Stage {
        tasks: &history.tasks,
        base: Arc::clone(&base),
        interfaces: Interfaces::of(base),
        conflicts: RefCell::new(Conflicts::of(folder).unwrap()),
        agents: 4,
    })
    .await
}

#[tokio::test]
async fn locks_keep_apart_what_collides_without_them() {
    on(async |stage| {
        let figures = async |rules, shared| stage.play(Mode::of(rules, shared)).await.unwrap().figures;
        let none = figures(Rules::None, Shared::Hot).await;
        assert!(none.conflicts > 0.5 && none.hazards > 0.5, "{none:?}");
        assert_eq!((none.waiting, none.claims_per_task, none.longest_wait), (0.0, 0.0, 0.0));
        let files = figures(Rules::Files, Shared::Hot).await;
        assert!(
            files.conflicts == 0.0 && files.hazards > 0.0 && files.waiting > 0.0,
            "{files:?}"
        );
        let unshared = figures(Rules::Files, Shared::None).await;
        assert!(
            unshared.wall_over_ideal > files.wall_over_ideal,
            "{unshared:?} {files:?}"
        );
        let neighbors = figures(Rules::Neighbors, Shared::Hot).await;
        assert!(neighbors.conflicts == 0.0 && neighbors.hazards == 0.0, "{neighbors:?}");
        let interface = figures(Rules::Interface, Shared::Hot).await;
        assert!(
            interface.wall_over_ideal < neighbors.wall_over_ideal,
            "{interface:?} {neighbors:?}"
        );
        // A run is the same each time.
        assert_eq!(figures(Rules::Interface, Shared::Hot).await, interface);
    })
    .await;
}

#[tokio::test]
async fn a_conflict_that_the_rules_exclude_is_a_violation() {
    on(async |stage| {
        // Tasks 1 and 3 change the same line, and are both begun in the first minute.
        let mut account = Account::of(stage.tasks.len());
        let mut judge = |mode, is_shared: bool, pulled_by_the_later: u64| {
            account.violations.clear();
            for (place, pulled) in [(1, 0), (3, pulled_by_the_later)] {
                let edit = edit(Duration::from_secs(pulled));
                account.tasks[place] = TaskRun {
                    agent: place,
                    started: Some(Duration::ZERO),
                    landed: Some(Duration::from_secs(60 + 10 * place as u64)),
                    edits: stage.tasks[place]
                        .files
                        .keys()
                        .map(|path| (path.clone(), edit.clone()))
                        .collect(),
                    ..TaskRun::default()
                };
            }
            let conflicting = stage.judge(mode, &mut account, &|_| is_shared).unwrap();
            (conflicting, account.violations.len(), account.tasks[3].is_outdated)
        };
        let files = Mode::of(Rules::Files, Shared::Default);
        assert_eq!(judge(files, false, 0), (2, 1, false));
        assert_eq!(judge(files, true, 0), (0, 0, false), "in a shared file it is none");
        assert_eq!(judge(files, false, 80), (0, 0, true), "it was pulled before the edit");
        assert_eq!(judge(Mode::of(Rules::None, Shared::Default), false, 0), (2, 0, false));
    })
    .await;
}

#[tokio::test]
async fn agents_that_wait_for_each_other_give_up_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let repo = Repo::init(folder.path(), &[]);
    // Each task changes the same three files: an agent without the first goes on with the next.
    for round in 0..6 {
        let text = round.to_string();
        repo.commit(&[("a.txt", &text), ("b.txt", &text), ("c.txt", &text)]);
    }
    let mode = Mode {
        hold: Hold::Edits,
        refused: RefusalHabit::Waits,
        ..Mode::of(Rules::Files, Shared::None)
    };
    on_the_last(5, folder.path(), async |stage| {
        let outcome = stage.play(mode).await.unwrap();
        assert!(outcome.violations.is_empty(), "{:?}", outcome.violations);
        assert!(outcome.figures.given_up > 0, "{:?}", outcome.figures);
        assert_eq!(stage.play(mode).await.unwrap().figures, outcome.figures);
    })
    .await;
}

#[tokio::test]
async fn every_mode_plays_all_tasks() {
    on(async |stage| {
        for mode in Mode::all() {
            let Outcome {
                figures, violations, ..
            } = stage.play(mode).await.unwrap();
            assert!(violations.is_empty(), "{mode}: {violations:?}");
            assert!(
                figures.wall_over_ideal >= 1.0 && figures.wall_over_ideal < 20.0,
                "{mode}: {figures:?}"
            );
        }
    })
    .await;
}

/// By `.ci/run`. The documented rules make agents wait most, and so ask most: they have a shorter history.
#[tokio::test]
#[ignore = "it replays a long history"]
async fn no_run_of_this_projects_history_breaks_a_promise() {
    let repository = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let shallow = Repo::at(repository).git(&["rev-parse", "--is-shallow-repository"]);
    assert_eq!(shallow, "false", "this takes the whole history: git fetch --unshallow");
    for (commits, only) in [
        (
            "199",
            "interface, hot files shared, held for the whole task, other tasks first",
        ),
        (
            "199",
            "interface, hot files shared, held from each edit, claims wait for their turn",
        ),
        (
            "60",
            "neighbors, hot files shared, held for the whole task, claims wait for their turn",
        ),
    ] {
        let words = [
            "replay",
            "--repository",
            repository,
            "--commits",
            commits,
            "--only",
            only,
        ];
        replay(&Options::parse_from(words)).await.unwrap();
    }
}
