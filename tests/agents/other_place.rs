//! One checkout in several containers, sandboxes and accounts: a server that cannot be reached from here is said at once, with what to do.

use std::process::Command;
use std::time::{Duration, Instant};

use coord_test_support::skipping::skip;

use crate::commands::{parts, printed};
use crate::hook::session;
use crate::processes::program_like;
use crate::texts::assert_has;
use coord_test_worlds::hook_forms::CLAUDE_CODE;
use coord_test_worlds::world::World;

/// `coord ARGS` in the clone, run by `program`.
fn run_by(world: &World, program: &[&str], args: &[&str]) -> (i32, String, Duration) {
    let coord = world.coord(world.clone.path());
    let mut command = program_like(&coord, program[0]);
    command.args(&program[1..]).arg(coord.get_program()).args(args);
    let began = Instant::now();
    let (status, out, error) = parts(&command.output().unwrap());
    (status, out + &error, began.elapsed())
}

fn works(program: &[&str]) -> bool {
    let mut command = Command::new(program[0]);
    let ended = command.args(&program[1..]).arg("true").output();
    ended.is_ok_and(|output| output.status.success())
}

// rule: servers#other-place
#[test]
fn a_server_outside_of_a_sandbox_is_named_within_a_second() {
    let programs: [&[&str]; 2] = [&["unshare", "--net"], &["unshare", "--map-root-user", "--net"]];
    let Some(sandbox) = programs.into_iter().find(|program| works(program)) else {
        return skip("unshare can make no network of its own");
    };
    let world = World::with(&[("a.txt", "a")]);
    let claim = ["claim", "a.txt", "-m", "Adding a line", "--agent"];
    printed(&world, &[&claim[..], &["one"]].concat(), 0);
    let process = world.server().unwrap();
    for args in [
        &["check", "a.txt"][..],
        &["status"],
        &["guard", "pre-commit", "--on-error", "deny"],
    ] {
        let (status, output, time) = run_by(&world, sandbox, args);
        assert_ne!(status, 0, "{output}");
        assert_has(&output, &["another container or sandbox", "COORD_URL"]);
        assert!(!output.contains(&process), "{output}");
        assert!(time < Duration::from_secs(1), "{time:?}: {output}");
    }
    let (_, output, _) = run_by(&world, sandbox, &["doctor"]);
    assert!(output.contains("COORD_URL") && !output.contains(&process), "{output}");
    // One that was killed there holds nothing.
    let listening = world.clone.path().join(".git/coord/listening");
    let text = std::fs::read_to_string(&listening).unwrap();
    assert!(Command::new("kill").args(["-9", &process]).status().unwrap().success());
    let (before, after) = text.split_once(" from ").unwrap();
    let after = after.split_once(' ').unwrap().1;
    std::fs::write(&listening, format!("{before} from 1-2-3 {after}")).unwrap();
    printed(&world, &[&claim[..], &["two"]].concat(), 3);
}

/// Files of sessions are the user's own, and the folder of another user's server is named with its owner.
#[test]
fn a_clone_of_another_user_is_named_with_its_owner() {
    let other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    if !works(&other) {
        return skip("setpriv cannot run as another user");
    }
    let world = World::with(&[("a.txt", "a")]);
    session(&world, &CLAUDE_CODE, None).may_edit("a.txt");
    let folder = world.clone.path().join(".git/coord");
    assert!(!folder.join("sessions").exists());
    assert!(world.sessions().is_dir());
    let mut chmod = Command::new("chmod");
    chmod.args(["a+rX", "-R"]).arg(world.clone.path().parent().unwrap());
    assert!(chmod.status().unwrap().success());
    std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let home = world.folder("home-of-nobody");
    std::fs::write(home.join(".gitconfig"), "[safe]\n\tdirectory = *\n").unwrap();
    World::give_to_nobody(&home);
    let home = format!("HOME={}", home.display());
    let program: Vec<&str> = other.iter().copied().chain(["env", &home]).collect();
    for args in [&["check", "a.txt"][..], &["doctor"], &["guard", "pre-commit"]] {
        let (_, output, time) = run_by(&world, &program, args);
        assert_has(&output, &[".git/coord belongs to root", "COORD_URL"]);
        assert!(time < Duration::from_secs(1), "{time:?}: {output}");
    }
}
