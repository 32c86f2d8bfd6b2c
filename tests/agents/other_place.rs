//! One checkout in several containers, sandboxes and accounts: a server that cannot be reached from here is said at once, with what to do.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use coord_test_support::skipping::skip;

use crate::commands::parts;
use crate::hook::session;
use coord_test_worlds::hook_forms::CLAUDE_CODE;
use coord_test_worlds::world::World;

/// `coord ARGS` in the clone, run by `program`.
fn run_by(world: &World, program: &[&str], args: &[&str]) -> (i32, String, Duration) {
    let coord = world.coord(world.clone.path());
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).arg(coord.get_program()).args(args);
    for (name, value) in coord.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let began = Instant::now();
    let (status, out, error) = parts(&command.current_dir(world.clone.path()).output().unwrap());
    (status, out + &error, began.elapsed())
}

fn works(program: &[&str]) -> bool {
    let mut command = Command::new(program[0]);
    let command = command
        .args(&program[1..])
        .arg("true")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

// rule: servers#other-place
#[test]
fn a_server_outside_of_a_sandbox_is_named_within_a_second() {
    let programs: [&[&str]; 2] = [&["unshare", "--net"], &["unshare", "--map-root-user", "--net"]];
    let Some(sandbox) = programs.into_iter().find(|program| works(program)) else {
        return skip("unshare can make no network of its own");
    };
    let world = World::with(&[("a.txt", "a")]);
    assert!(
        world
            .run(&["claim", "a.txt", "-m", "Adding a line", "--agent", "one"])
            .status
            .success()
    );
    let process = world.server().unwrap();
    for args in [
        &["check", "a.txt"][..],
        &["status"],
        &["guard", "pre-commit", "--on-error", "deny"],
    ] {
        let (status, output, time) = run_by(&world, sandbox, args);
        assert_ne!(status, 0, "{output}");
        assert!(
            output.contains("another container or sandbox") && output.contains("COORD_URL"),
            "{output}"
        );
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
    let (status, out, error) = parts(&world.run(&["claim", "a.txt", "-m", "Adding a line", "--agent", "two"]));
    assert_eq!(status, 3, "{out}{error}");
}

/// Files of sessions are the user's own, and the folder of another user's server is named with its owner.
#[test]
fn a_clone_of_another_user_is_named_with_its_owner() {
    let other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    if !works(&other) {
        return skip("setpriv cannot run as another user");
    }
    let world = World::with(&[("a.txt", "a")]);
    let own = session(&world, &CLAUDE_CODE, None);
    assert_eq!(own.denial(&own.edits("a.txt")), None);
    assert!(!world.clone.path().join(".git/coord/sessions").exists());
    assert!(world.sessions().is_dir());
    let root = world.clone.path().parent().unwrap();
    assert!(
        Command::new("chmod")
            .args(["a+rX", "-R"])
            .arg(root)
            .status()
            .unwrap()
            .success()
    );
    std::fs::set_permissions(
        world.clone.path().join(".git/coord"),
        std::os::unix::fs::PermissionsExt::from_mode(0o700),
    )
    .unwrap();
    let home = world.folder("home-of-nobody");
    std::fs::write(home.join(".gitconfig"), "[safe]\n\tdirectory = *\n").unwrap();
    World::give_to_nobody(&home);
    let home = format!("HOME={}", home.display());
    let program: Vec<&str> = other.iter().copied().chain(["env", &home]).collect();
    for args in [&["check", "a.txt"][..], &["doctor"], &["guard", "pre-commit"]] {
        let (_, output, time) = run_by(&world, &program, args);
        assert!(
            output.contains(".git/coord belongs to root") && output.contains("COORD_URL"),
            "{output}"
        );
        assert!(time < Duration::from_secs(1), "{time:?}: {output}");
    }
}
