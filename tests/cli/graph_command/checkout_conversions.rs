//! Where git converts content on its way out of the object database, a file of the checkout is not its blob.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::graph_command::checkout_world::World;
use coord_test_support::git::Repo;

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
        let file = File::options().write(true).open(world.path(name)).unwrap();
        file.set_modified(past).unwrap();
    }
    world.age();
    world.repo.git(&["update-index", "-q", "--really-refresh"]);
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
}

const FIRST: &str = "src/d0/deep/f0.ts";

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
        let is_converted = read(&world.path(FIRST)).contains('\r');
        let converts = attributes.contains("crlf") || (setting == "true" && !attributes.contains("-text"));
        assert_eq!(is_converted, converts, "{attributes:?} {setting}");
    }
}

#[test]
fn a_filter_named_at_the_root() {
    let world = World::with(&[(".gitattributes", "*.ts filter=upper\n")], add_filter);
    check_out_again(&world);
    assert!(read(&world.path(FIRST)).contains("IMPORT"));
    world.assert_same();
}

#[test]
fn a_filter_named_by_a_macro() {
    let world = World::with(
        &[(".gitattributes", "[attr]loud filter=upper\n*.ts loud\n")],
        add_filter,
    );
    check_out_again(&world);
    assert!(read(&world.path(FIRST)).contains("IMPORT"));
    world.assert_same();
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
            assert!(read(&world.path(FIRST)).contains("IMPORT"), "{place} {is_tracked}");
            world.assert_same();
        }
    }
}

#[test]
fn a_filter_named_in_the_repository_itself_or_in_a_file_that_the_configuration_names() {
    for is_named in [false, true] {
        let world = World::with(&[], add_filter);
        let place = if is_named {
            "../attributes"
        } else {
            ".git/info/attributes"
        };
        world.write(place, "*.ts filter=upper\n");
        if is_named {
            let place = world.path(place);
            world
                .repo
                .git(&["config", "core.attributesFile", place.to_str().unwrap()]);
        }
        check_out_again(&world);
        assert!(read(&world.path(FIRST)).contains("IMPORT"));
        world.assert_same();
    }
}

#[test]
fn a_filter_named_in_a_file_of_attributes_that_is_not_checked_out() {
    let world = World::with(&[(".gitattributes", "*.ts filter=upper\n")], add_filter);
    check_out_again(&world);
    fs::remove_file(world.path(".gitattributes")).unwrap();
    world.assert_same();
    world.repo.git(&["sparse-checkout", "set", "--no-cone", "/src/"]);
    assert!(!world.path(".gitattributes").exists());
    assert!(read(&world.path(FIRST)).contains("IMPORT"));
    world.assert_same();
}

/// Git leaves a file as it is when only its attributes change with the commit.
#[test]
fn a_filter_that_the_commit_no_longer_names() {
    let world = World::with(&[(".gitattributes", "*.ts filter=upper\n")], add_filter);
    check_out_again(&world);
    world.repo.git(&["checkout", "--quiet", "-b", "plain"]);
    world.repo.git(&["rm", "--quiet", ".gitattributes"]);
    world.age();
    world.repo.git(&["commit", "--quiet", "--message", "Name no filter"]);
    assert!(read(&world.path(FIRST)).contains("IMPORT"));
    world.assert_same();
}

#[test]
fn an_id_that_is_expanded() {
    let source = "// $Id$\nimport './d1/deep/f1';\n";
    let world = World::new(&[(".gitattributes", "*.ts ident\n"), ("src/id.ts", source)]);
    check_out_again(&world);
    assert!(read(&world.path("src/id.ts")).contains("$Id: "));
    world.assert_same();
    world.repo.git(&["rm", "--quiet", ".gitattributes"]);
    world.age();
    world.repo.git(&["commit", "--quiet", "--message", "Expand nothing"]);
    assert!(read(&world.path("src/id.ts")).contains("$Id: "));
    world.assert_same();
}

#[test]
fn an_encoding_of_the_checkout() {
    for encoding in ["UTF-16LE-BOM", "ISO-8859-1", "UTF-16"] {
        let source = "// é\nimport './d1/deep/f1';\n";
        let attributes = format!("id.ts text working-tree-encoding={encoding}\n");
        let world = World::new(&[("src/readme.md", "text")]);
        world.write(".gitattributes", &attributes);
        world.repo.git(&["add", ".gitattributes"]);
        let blob = world.path("../blob");
        fs::write(&blob, source).unwrap();
        let id = world
            .repo
            .git(&["hash-object", "-w", "--no-filters", blob.to_str().unwrap()]);
        world.repo.git(&[
            "update-index",
            "--add",
            "--cacheinfo",
            &format!("100644,{id},src/id.ts"),
        ]);
        world.repo.git(&["commit", "--quiet", "--message", "Name an encoding"]);
        check_out_again(&world);
        assert!(!read(&world.path("src/id.ts")).contains('é'), "{encoding}");
        world.assert_same();
        world.repo.git(&["rm", "--quiet", ".gitattributes"]);
        world.age();
        world.repo.git(&["commit", "--quiet", "--message", "Name no encoding"]);
        assert!(!read(&world.path("src/id.ts")).contains('é'), "{encoding}");
        world.assert_same();
    }
}
