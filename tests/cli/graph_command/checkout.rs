//! Files of a checkout are read in place of blobs: the graph of a commit must be the same as where there is no checkout.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use coord_test_support::git::Repo;

use crate::graph_command::checkout_world::{FEW_FILES, FILES, World, content, name};

/// A named pipe: opening it waits for a writer.
fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_clean_checkout_gives_the_graph_of_its_objects_and_needs_none_of_them() {
    let world = World::new(&[("README.md", "text")]);
    world.assert_same();
    assert!(world.is_read_from_checkout());
}

#[test]
fn a_few_files_are_read_from_the_checkout_too() {
    let world = World::of(FEW_FILES, &[("README.md", "text")], |_| {});
    world.assert_same();
    world.write(&name(0), "import '../../d5/deep/f5';\n");
    fs::remove_file(world.path(&name(1))).unwrap();
    world.assert_same();
    assert!(world.is_read_from_checkout());
}

#[test]
fn a_few_files_among_many_that_are_not_read_are_taken_from_the_objects() {
    let many: Vec<(String, &str)> = (0..FILES).map(|number| (format!("text/{number}.md"), "text")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let world = World::of(FEW_FILES, &many, |_| {});
    world.assert_same();
    assert!(!world.is_read_from_checkout());
}

#[test]
fn a_repository_that_was_packed_gives_the_same_graph() {
    let world = World::new(&[]);
    world.repo.git(&["gc", "--quiet"]);
    world.assert_same();
}

#[test]
fn changes_that_are_not_staged_do_not_show() {
    let world = World::new(&[]);
    world.write(&name(0), "import '../../d5/deep/f5';\n");
    fs::remove_file(world.path(&name(1))).unwrap();
    fs::remove_file(world.path(&name(2))).unwrap();
    symlink("f3.ts", world.path(&name(2))).unwrap();
    fs::remove_file(world.path(&name(3))).unwrap();
    fs::create_dir(world.path(&name(3))).unwrap();
    fs::remove_file(world.path(&name(4))).unwrap();
    make_fifo(&world.path(&name(4)));
    fs::write(world.path(&name(5)), "").unwrap();
    fs::remove_dir_all(world.path("src/d6")).unwrap();
    // A folder that became a link to one with files of the same names.
    fs::rename(world.path("src/d7"), world.path("moved")).unwrap();
    symlink("../moved", world.path("src/d7")).unwrap();
    world.write("moved/deep/f7.ts", &content(250));
    fs::rename(world.path(&name(8)), world.path(&name(18))).unwrap();
    world.write("src/untracked.ts", &content(1));
    world.assert_same();
    assert!(world.is_read_from_checkout(), "the other files are unchanged");
}

#[test]
fn a_file_changed_to_the_same_size_and_time_does_not_show() {
    let world = World::new(&[]);
    let path = world.path(&name(0));
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, content(2)).unwrap();
    world.set_modified(&name(0), modified);
    world.assert_same();
}

#[test]
fn a_file_replaced_by_one_of_the_same_size_and_time_does_not_show() {
    let world = World::new(&[]);
    let path = world.path(&name(0));
    world.write("other", &content(2));
    world.set_modified("other", fs::metadata(&path).unwrap().modified().unwrap());
    fs::rename(world.path("other"), path).unwrap();
    world.assert_same();
}

#[test]
fn staged_changes_do_not_show() {
    let world = World::new(&[]);
    world.write(&name(0), &content(9));
    world.write("src/new.ts", &content(1));
    fs::remove_file(world.path(&name(1))).unwrap();
    world.repo.git(&["mv", &name(2), "src/d2/moved.ts"]);
    world.repo.git(&["rm", "--quiet", "--cached", &name(3)]);
    world.age();
    world.repo.git(&["add", "--all"]);
    world.assert_same();
    // And what was staged is changed again.
    world.write(&name(0), &content(7));
    world.assert_same();
}

#[test]
fn an_older_commit_than_the_one_checked_out_is_read_as_it_was() {
    let world = World::new(&[]);
    for round in 0..3 {
        world.write(&name(round), &content(round + 100));
        world.age();
        world.commit();
    }
    world.repo.git(&["branch", "later"]);
    world.repo.git(&["reset", "--quiet", "--soft", "HEAD~2"]);
    world.assert_same();
    world.repo.git(&["reset", "--quiet", "--mixed", "HEAD"]);
    world.assert_same();
    world.repo.git(&["checkout", "--quiet", "--force", "later"]);
    world.age();
    world.assert_same();
    assert!(world.is_read_from_checkout());
}

#[test]
fn a_merge_that_conflicts_does_not_show() {
    let world = World::new(&[]);
    world.repo.git(&["checkout", "--quiet", "-b", "side"]);
    world.write(&name(0), &content(10));
    world.write(&name(1), &content(11));
    world.commit();
    world.repo.git(&["checkout", "--quiet", "main"]);
    world.write(&name(0), &content(20));
    world.commit();
    let merged = Command::new("git")
        .args([
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.com",
            "merge",
            "side",
        ])
        .current_dir(world.repo.path())
        .output()
        .unwrap();
    assert!(!merged.status.success(), "there is a conflict: {merged:?}");
    assert!(!world.repo.git(&["ls-files", "--unmerged"]).is_empty());
    world.assert_same();
}

#[test]
fn flags_of_the_index_do_not_hide_a_change() {
    let world = World::new(&[]);
    world
        .repo
        .git(&["update-index", "--assume-unchanged", &name(0), &name(1)]);
    world.repo.git(&["update-index", "--skip-worktree", &name(2), &name(3)]);
    for number in 0..4 {
        world.write(&name(number), &content(number + 50));
    }
    world.write("src/later.ts", &content(1));
    world.repo.git(&["add", "--intent-to-add", "src/later.ts"]);
    world.assert_same();
    world.repo.git(&["update-index", "-q", "--really-refresh"]);
    world.assert_same();
}

#[test]
fn a_split_index_gives_the_same_graph() {
    let world = World::new(&[]);
    world.repo.git(&["update-index", "--split-index"]);
    world.assert_same();
    world.write(&name(0), &content(9));
    world.age();
    world.repo.git(&["add", &name(0)]);
    world.assert_same();
}

#[test]
fn a_sparse_checkout_gives_the_same_graph() {
    for index in ["--no-sparse-index", "--sparse-index"] {
        let world = World::new(&[]);
        world
            .repo
            .git(&["sparse-checkout", "set", "--cone", index, "src/d1", "src/d2"]);
        assert!(!world.path("src/d3").exists());
        world.assert_same();
        world.write(&name(1), &content(9));
        // A file outside the cone, by hand.
        world.write(&name(3), &content(9));
        world.assert_same();
    }
}

#[test]
fn a_sparse_checkout_by_patterns_gives_the_same_graph() {
    let world = World::new(&[]);
    world
        .repo
        .git(&["sparse-checkout", "set", "--no-cone", "/src/d1/", "!/src/d2/", "f7*.ts"]);
    world.assert_same();
}

#[test]
fn executable_files_submodules_and_links_give_the_same_graph() {
    let world = World::new(&[]);
    let library = Repo::init(world.temp.path().join("library"), &[]);
    library.commit(&[("index.ts", "1")]);
    world
        .repo
        .git(&["submodule", "--quiet", "add", "../library", "src/library"]);
    symlink("d1/deep/f1.ts", world.path("src/link.ts")).unwrap();
    symlink("d1", world.path("src/folder")).unwrap();
    world.write(
        "src/uses.ts",
        "import './link'; import './folder/deep/f1'; import './library';\n",
    );
    world.repo.git(&["add", "--all"]);
    world.repo.git(&["update-index", "--chmod=+x", &name(0)]);
    world.age();
    world.commit();
    world.assert_same();
    assert!(world.is_read_from_checkout());
}

/// The index is written in the same tick of the clock as the file, and so may be the change after it.
#[test]
fn a_file_changed_right_after_it_was_added_does_not_show() {
    let world = World::new(&[]);
    for round in 0..200 {
        let target = round % 10 + 100;
        world.write(&name(0), &content(target));
        world
            .repo
            .git(&["commit", "--quiet", "--all", "--message", "Change", "--allow-empty"]);
        world.write(&name(0), &content(target + 10));
        world.assert_imports(0, target, &format!("round {round}"));
    }
}

/// A program writes while git looks: git's note about the file may be of before or after.
#[test]
fn files_that_change_while_they_are_added_are_read_as_they_were_added() {
    let world = World::new(&[]);
    for round in 0..8 {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let writer = Stopped(&stop);
            scope.spawn(|| {
                let mut target = 100 + round;
                while !stop.load(Ordering::Relaxed) {
                    for number in 0..20 {
                        world.write(&name(number), &content(target % 150 + 100));
                    }
                    target += 1;
                    // time: a writer that never rests.
                    thread::sleep(Duration::from_millis(1));
                }
            });
            // git refuses to add a file that got shorter while it was read; so it is asked again, up to a limit.
            let added = (0..100).any(|_| world.repo.try_git(&["add", "--all"]).is_ok());
            drop(writer);
            assert!(added, "git never got to add the files");
        });
        world
            .repo
            .git(&["commit", "--quiet", "--allow-empty", "--message", "Change"]);
        world.assert_same();
    }
}

/// Tells a thread to stop, also where the test fails: the scope of the thread waits for it in any case.
struct Stopped<'a>(&'a AtomicBool);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A file whose time was set back after it was changed in the tick in which the index was written.
#[test]
fn a_time_set_back_does_not_hide_a_change() {
    let world = World::new(&[]);
    let past = SystemTime::now() - Duration::from_secs(100);
    let write_old = |target| {
        world.write(&name(0), &content(target));
        world.set_modified(&name(0), past);
    };
    for round in 0..100 {
        let target = round % 10 + 100;
        write_old(target);
        world.repo.git(&["update-index", "--no-assume-unchanged", &name(0)]);
        world.repo.git(&["add", "--all"]);
        write_old(target + 10);
        world
            .repo
            .git(&["commit", "--quiet", "--allow-empty", "--message", "Change"]);
        let blob = world.repo.git(&["cat-file", "-p", &format!("HEAD:{}", name(0))]);
        let really = (100..120).find(|target| content(*target).trim() == blob).unwrap();
        world.assert_imports(0, really, &format!("round {round}"));
    }
}
