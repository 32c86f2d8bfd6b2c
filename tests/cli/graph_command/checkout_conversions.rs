//! Where git converts content on its way out of the object database, a file of the checkout is not its blob.

use std::fs;
use std::time::{Duration, SystemTime};

use coord_test_support::git::Repo;

use crate::graph_command::checkout_world::World;

/// In a checkout this reads `IMPORT`, which imports nothing.
fn add_filter(repo: &Repo) {
    repo.git(&["config", "filter.upper.smudge", "tr a-z A-Z"]);
    repo.git(&["config", "filter.upper.clean", "tr A-Z a-z"]);
}

/// Writes all files again from their blobs, as a fresh clone would.
fn check_out_again(world: &World) {
    for entry in fs::read_dir(world.repo.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with(".git") {
            fs::remove_dir_all(path).unwrap();
        } else if path.is_file() {
            fs::remove_file(path).unwrap();
        }
    }
    world.age();
    world.repo.git(&["checkout", "--quiet", "--force", "HEAD", "--", "."]);
    world.age();
    // Git itself goes by whole seconds, and would look again at what is as young as its index.
    let past = SystemTime::now() - Duration::from_secs(100);
    for name in world.repo.git(&["ls-files"]).lines() {
        world.set_modified(name, past);
    }
    world.age();
    world.repo.git(&["update-index", "-q", "--really-refresh"]);
}

/// Whether `file` of the checkout has this part.
fn has(world: &World, file: &str, part: &str) -> bool {
    let content = fs::read(world.path(file)).unwrap();
    String::from_utf8_lossy(&content).contains(part)
}

const FIRST: &str = "src/d0/deep/f0.ts";

/// Commits that no file has attributes any more.
fn commit_without_attributes(world: &World) {
    world.repo.git(&["rm", "--quiet", ".gitattributes"]);
    world.age();
    world.repo.git(&["commit", "--quiet", "--message", "Name no attribute"]);
}

/// A checkout whose files are filtered by these attributes at the root.
fn filtered(attributes: &str) -> World {
    let world = World::with(&[(".gitattributes", attributes)], add_filter);
    check_out_again(&world);
    assert!(has(&world, FIRST, "IMPORT"));
    world
}

#[test]
fn ends_of_lines() {
    let mixed = "import './d1/deep/f1';\r\nimport './d2/deep/f2';\r\n";
    for (attributes, setting) in [
        ("* text=auto\n", "false"),
        ("* text=auto\n", "true"),
        ("* text eol=crlf\n", "false"),
        ("* -text\n", "true"),
        ("", "true"),
        ("", "input"),
        ("", "false"),
    ] {
        let world = World::with(&[(".gitattributes", attributes), ("src/crlf.ts", mixed)], |repo| {
            repo.git(&["config", "core.autocrlf", setting]);
            repo.git(&["config", "core.safecrlf", "false"]);
        });
        world.assert_same();
        check_out_again(&world);
        world.assert_same();
        let converts = attributes.contains("crlf") || (setting == "true" && !attributes.contains("-text"));
        assert_eq!(has(&world, FIRST, "\r"), converts, "{attributes:?} {setting}");
    }
}

#[test]
fn a_filter_named_at_the_root_itself_or_by_a_macro() {
    for attributes in ["*.ts filter=upper\n", "[attr]loud filter=upper\n*.ts loud\n"] {
        filtered(attributes).assert_same();
    }
}

#[test]
fn a_filter_named_in_a_folder_with_and_without_tracked_files() {
    for place in [
        "src/d0/deep/.gitattributes",
        "src/d0/.gitattributes",
        "src/.gitattributes",
    ] {
        for is_tracked in [true, false] {
            let world = World::with(&[], add_filter);
            world.write(place, "*.ts filter=upper\n");
            if is_tracked {
                world.commit();
            }
            fs::remove_file(world.path(FIRST)).unwrap();
            world.repo.git(&["checkout", "--quiet", "--", FIRST]);
            world.age();
            world.repo.git(&["update-index", "-q", "--really-refresh"]);
            assert!(has(&world, FIRST, "IMPORT"), "{place} {is_tracked}");
            world.assert_same();
        }
    }
}

#[test]
fn a_filter_named_in_the_repository_itself_or_in_a_file_that_the_configuration_names() {
    for place in [".git/info/attributes", "../attributes"] {
        let world = World::with(&[], add_filter);
        world.write(place, "*.ts filter=upper\n");
        if place == "../attributes" {
            let place = world.path(place);
            world
                .repo
                .git(&["config", "core.attributesFile", place.to_str().unwrap()]);
        }
        check_out_again(&world);
        assert!(has(&world, FIRST, "IMPORT"), "{place}");
        world.assert_same();
    }
}

#[test]
fn a_filter_named_in_a_file_of_attributes_that_is_not_checked_out() {
    let world = filtered("*.ts filter=upper\n");
    fs::remove_file(world.path(".gitattributes")).unwrap();
    world.assert_same();
    world.repo.git(&["sparse-checkout", "set", "--no-cone", "/src/"]);
    assert!(!world.path(".gitattributes").exists());
    assert!(has(&world, FIRST, "IMPORT"));
    world.assert_same();
}

/// Git leaves a file as it is when only its attributes change with the commit.
#[test]
fn a_filter_that_the_commit_no_longer_names() {
    let world = filtered("*.ts filter=upper\n");
    world.repo.git(&["checkout", "--quiet", "-b", "plain"]);
    commit_without_attributes(&world);
    assert!(has(&world, FIRST, "IMPORT"));
    world.assert_same();
}

#[test]
fn an_id_that_is_expanded() {
    let source = "// $Id$\nimport './d1/deep/f1';\n";
    let world = World::new(&[(".gitattributes", "*.ts ident\n"), ("src/id.ts", source)]);
    check_out_again(&world);
    assert!(has(&world, "src/id.ts", "$Id: "));
    world.assert_same();
    commit_without_attributes(&world);
    assert!(has(&world, "src/id.ts", "$Id: "));
    world.assert_same();
}

#[test]
fn an_encoding_of_the_checkout() {
    for encoding in ["UTF-16LE-BOM", "ISO-8859-1", "UTF-16"] {
        let source = "// é\nimport './d1/deep/f1';\n";
        let attributes = format!("id.ts text working-tree-encoding={encoding}\n");
        let world = World::new(&[("src/readme.md", "text")]);
        let git = |arguments: &[&str]| world.repo.git(arguments);
        world.write(".gitattributes", &attributes);
        git(&["add", ".gitattributes"]);
        let blob = world.path("../blob");
        fs::write(&blob, source).unwrap();
        let id = git(&["hash-object", "-w", "--no-filters", blob.to_str().unwrap()]);
        let entry = format!("100644,{id},src/id.ts");
        git(&["update-index", "--add", "--cacheinfo", &entry]);
        git(&["commit", "--quiet", "--message", "Name an encoding"]);
        check_out_again(&world);
        assert!(!has(&world, "src/id.ts", "é"), "{encoding}");
        world.assert_same();
        commit_without_attributes(&world);
        assert!(!has(&world, "src/id.ts", "é"), "{encoding}");
        world.assert_same();
    }
}
