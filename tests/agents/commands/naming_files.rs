//! How files are named: paths, and patterns.

use serde_json::Value;

use super::{error, locked, parts, printed, run, world};
use coord_test_worlds::world::World;

/// The files of a claim that was granted, in their order.
#[track_caller]
fn claimed(world: &World, folder: &str, names: &[&str]) -> Vec<String> {
    let args = [&["claim", "--json", "-m", "Moving the login"], names].concat();
    let mut command = world.coord(&world.clone.path().join(folder));
    let (code, out, error) = parts(&command.args(&args).output().unwrap());
    assert_eq!(code, 0, "{names:?}: {out}{error}");
    let response: Value = serde_json::from_str(&out).unwrap();
    response["locks"].as_object().unwrap().keys().cloned().collect()
}

// rule: commands#paths
#[test]
fn a_pattern_claims_the_tracked_files_that_it_matches() {
    let world = world();
    std::fs::write(world.clone.path().join("src/auth/untracked.ts"), "").unwrap();
    let below = ["src/auth/deep/token.ts", "src/auth/login.ts"];
    for (folder, names, files) in [
        ("", &["src/auth/**"][..], below),
        // `*` is within one folder.
        ("", &["src/*.ts"], ["src/auth.ts", "src/db.ts"]),
        // From the current folder, each file once.
        ("src", &["auth/*", "auth/**"], below),
        ("src", &["../READ??.md", "new.ts"], ["README.md", "src/new.ts"]),
        ("src", &["**/[l-t]o*.ts"], below),
    ] {
        assert_eq!(claimed(&world, folder, names), files, "{names:?}");
    }
}

#[test]
fn a_pattern_that_matches_nothing_and_a_folder_are_errors_and_claim_nothing() {
    let world = world();
    for (name, sentence) in [
        (
            "src/*.rs",
            "coord: 'src/*.rs' matches no file that git tracks; name files that are new one by one\n",
        ),
        (
            "src/auth/",
            "coord: src/auth/ is a folder, and locks are on files; 'src/auth/**' names those of it that git tracks\n",
        ),
        (".git/config", "coord: .git/config is git's own\n"),
    ] {
        let claim = ["claim", "README.md", name, "-m", "Moving the login"];
        for args in [&["check", "README.md", name][..], &claim] {
            assert_eq!(run(&world, args), (1, String::new(), sentence.to_owned()), "{args:?}");
        }
    }
    let error = error(&world, &["check", "../elsewhere.ts"], 1);
    assert!(error.starts_with("coord: ../elsewhere.ts is not in "), "{error}");
    assert_eq!(locked(&world), [""; 0]);
}

// rule: commands#paths
#[test]
fn more_files_than_a_request_has_room_for_are_refused_before_they_are_sent() {
    let world = world();
    let many: Vec<String> = (0..513).map(|number| format!("many/{number}.ts")).collect();
    let files: Vec<(&str, &str)> = many.iter().map(|path| (path.as_str(), "")).collect();
    world.clone.commit(&files);
    let sentence = "coord: the request has 513 paths; at most 512 distinct ones are allowed\n";
    assert_eq!(error(&world, &["check", "many/**"], 1), sentence);
}

#[test]
fn a_file_whose_name_is_a_pattern_is_that_file() {
    let world = world();
    for name in ["*", "[id].ts"] {
        std::fs::write(world.clone.path().join(name), "").unwrap();
    }
    assert_eq!(claimed(&world, "", &["[id].ts"]), ["[id].ts"]);
    printed(&world, &["claim", "src/db.ts", "-m", "Adding a pool"], 0);
    assert_eq!(claimed(&world, "", &["*"]), ["*"]);
    printed(&world, &["release", "*", "--abandon"], 0);
    assert_eq!(locked(&world), ["[id].ts", "src/db.ts"], "the file, and not everything");
    printed(&world, &["claim", "*", "-m", "Adding a file"], 0);
    printed(&world, &["release", "--all", "--abandon"], 0);
    assert_eq!(locked(&world), [""; 0]);
}
