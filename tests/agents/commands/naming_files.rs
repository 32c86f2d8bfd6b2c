//! How files are named: paths, and patterns.

use super::{json, parts, printed, run, world};
use coord_test_worlds::world::World;

/// The files of a claim that was granted, in their order.
fn claimed(world: &World, folder: &str, names: &[&str]) -> Vec<String> {
    let args = [&["claim", "--json", "-m", "Moving the login"], names].concat();
    let output = world
        .coord(&world.clone.path().join(folder))
        .args(&args)
        .output()
        .unwrap();
    let (code, out, error) = parts(&output);
    assert_eq!(code, 0, "{names:?}: {out}{error}");
    let response: serde_json::Value = serde_json::from_str(&out).unwrap();
    response["locks"].as_object().unwrap().keys().cloned().collect()
}

// rule: commands#paths
#[test]
fn a_pattern_claims_the_tracked_files_that_it_matches() {
    let world = world();
    std::fs::write(world.clone.path().join("src/auth/untracked.ts"), "").unwrap();
    let below = ["src/auth/deep/token.ts", "src/auth/login.ts"];
    assert_eq!(claimed(&world, "", &["src/auth/**"]), below);
    assert_eq!(
        claimed(&world, "", &["src/*.ts"]),
        ["src/auth.ts", "src/db.ts"],
        "* is within one folder"
    );
    assert_eq!(
        claimed(&world, "src", &["auth/*", "auth/**"]),
        below,
        "from the current folder, each file once"
    );
    assert_eq!(
        claimed(&world, "src", &["../READ??.md", "new.ts"]),
        ["README.md", "src/new.ts"]
    );
    assert_eq!(claimed(&world, "src", &["**/[l-t]o*.ts"]), below);
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
        for command in ["check", "claim"] {
            let mut args = vec![command, "README.md", name];
            if command == "claim" {
                args.extend(["-m", "Moving the login"]);
            }
            assert_eq!(run(&world, &args), (1, String::new(), sentence.to_owned()), "{args:?}");
        }
    }
    let (code, _, error) = run(&world, &["check", "../elsewhere.ts"]);
    assert_eq!(code, 1);
    assert!(error.starts_with("coord: ../elsewhere.ts is not in "), "{error}");
    assert_eq!(json(&world, &["status", "--json"], 0)["locks"], serde_json::json!([]));
}

// rule: commands#paths
#[test]
fn more_files_than_a_request_has_room_for_are_refused_before_they_are_sent() {
    let world = world();
    let many: Vec<(String, String)> = (0..513)
        .map(|number| (format!("many/{number}.ts"), String::new()))
        .collect();
    let files: Vec<(&str, &str)> = many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    world.clone.commit(&files);
    let (code, _, error) = run(&world, &["check", "many/**"]);
    assert_eq!(code, 1);
    assert_eq!(
        error,
        "coord: the request has 513 paths; at most 512 distinct ones are allowed\n"
    );
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
    let left = json(&world, &["status", "--json"], 0);
    let files: Vec<&str> = left["locks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|lock| lock["file_path"].as_str().unwrap())
        .collect();
    assert_eq!(files, ["[id].ts", "src/db.ts"], "the file, and not everything");
    printed(&world, &["claim", "*", "-m", "Adding a file"], 0);
    printed(&world, &["release", "--all", "--abandon"], 0);
    assert_eq!(json(&world, &["status", "--json"], 0)["locks"], serde_json::json!([]));
}
