//! A clone that is renamed, copied, deleted or made again under its server.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use coord_test_support::git::Repo;
use coord_test_support::waiting::block_until;

use crate::commands::parts;
use crate::processes::{end_server, kill};
use coord_test_worlds::world::{World, server_of};

fn claims(world: &World, clone: &Repo, agent: &str) -> (i32, String) {
    let args = ["claim", "a.txt", "-m", "Adding a line", "--agent", agent];
    let (status, out, error) = parts(&world.coord(clone.path()).args(args).output().unwrap());
    (status, out + &error)
}

/// The id of the repository, as `coord doctor` shows it.
fn id(world: &World, clone: &Repo) -> String {
    let (_, out, _) = parts(&world.coord(clone.path()).args(["doctor", "--json"]).output().unwrap());
    let findings: serde_json::Value = serde_json::from_str(&out).unwrap();
    let findings = findings.as_array().unwrap().iter();
    let of = findings
        .into_iter()
        .find(|finding| finding["subject"] == "repository")
        .unwrap();
    of["found"].as_str().unwrap().split(' ').next().unwrap().to_owned()
}

fn announced(clone: &Repo) -> String {
    std::fs::read_to_string(clone.path().join(".git/coord/listening")).unwrap()
}

/// The status of the health of the server that has `announced` itself; `None` where nothing listens.
fn health(announced: &str) -> Option<String> {
    let socket = announced.split(' ').next()?.strip_prefix("http://")?;
    let mut stream = TcpStream::connect(socket).ok()?;
    let request = "GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).ok()?;
    let body = response.split("\r\n\r\n").nth(1)?;
    let body: serde_json::Value = serde_json::from_str(body).ok()?;
    Some(body["status"].as_str()?.to_owned())
}

/// Whether the process has ended. Another server may have its port by now.
fn has_ended(process: &str) -> bool {
    let listed = Command::new("ps")
        .args(["-o", "stat=", "-p", process])
        .output()
        .unwrap();
    let state = String::from_utf8(listed.stdout).unwrap();
    state.trim().is_empty() || state.trim().starts_with('Z')
}

fn moved(world: &mut World, name: &str) {
    let to = world.clone.path().parent().unwrap().join(name);
    std::fs::rename(world.clone.path(), &to).unwrap();
    world.clone = Repo::at(to);
}

fn copied(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-r").args([from, to]).status();
    assert!(copied.unwrap().success());
}

// rule: servers#moved-clone
#[test]
fn a_renamed_clone_keeps_its_id_and_its_locks() {
    for remote in [false, true] {
        let files = [("a.txt", "a")];
        let mut world = match remote {
            true => World::with(&files),
            false => World::without_remote(&files),
        };
        assert_eq!(claims(&world, &world.clone, "one").0, 0);
        let before = (id(&world, &world.clone), announced(&world.clone));
        let process = world.server().unwrap();
        moved(&mut world, "renamed");
        let began = Instant::now();
        let (status, output) = claims(&world, &world.clone, "two");
        assert!(status == 3 && output.contains("one"), "{status}: {output}");
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
        assert_eq!(id(&world, &world.clone), before.0);
        assert_ne!(announced(&world.clone), before.1);
        block_until("the old server ends", || has_ended(&process));
    }
}

// rule: servers#moved-clone
#[test]
fn a_copy_is_another_repository_without_the_locks_of_the_first() {
    let world = World::without_remote(&[("a.txt", "a")]);
    assert_eq!(claims(&world, &world.clone, "one").0, 0);
    let path = world.clone.path().with_file_name("copy");
    copied(world.clone.path(), &path);
    let copy = Repo::at(&path);
    assert_eq!(claims(&world, &copy, "two").0, 0);
    assert_eq!(claims(&world, &world.clone, "two").0, 3);
    let ids = (id(&world, &world.clone), id(&world, &copy));
    assert_eq!(ids.0, "localhost/local/clone");
    assert!(ids.1.starts_with("localhost/local/copy-"), "{ids:?}");
    let server = server_of(&copy).unwrap();
    assert_ne!(Some(&server), world.server().as_ref());
    // A person may serve both with one server.
    kill(&server);
    end_server(&world);
    block_until("both end", || server_of(&copy).is_none());
    let mut command = world.coord(world.clone.path());
    command.args(["serve", "--port", "0", "--repo"]).arg(world.clone.path());
    command
        .arg("--repo")
        .arg(&path)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let mut both = command.spawn().unwrap();
    block_until("it listens", || server_of(&copy) == Some(both.id().to_string()));
    assert_eq!(claims(&world, &world.clone, "two").0, 3);
    both.kill().unwrap();
    both.wait().unwrap();
    let _ = std::fs::remove_file(path.join(".git/coord/listening"));
}

/// The name was not written down by earlier versions.
#[test]
fn a_store_of_an_earlier_version_keeps_its_id() {
    let mut world = World::without_remote(&[("a.txt", "a")]);
    assert_eq!(claims(&world, &world.clone, "one").0, 0);
    end_server(&world);
    std::fs::remove_file(world.clone.path().join(".git/coord/repository")).unwrap();
    assert_eq!(claims(&world, &world.clone, "two").0, 3);
    moved(&mut world, "renamed");
    assert_eq!(claims(&world, &world.clone, "two").0, 3);
}

/// A clone that is deleted and cloned again under its server.
fn cloned_again(world: &World) {
    let origin = world.origin().path().display().to_string();
    let path = world.clone.path().display().to_string();
    // The server may write meanwhile.
    block_until("the clone is deleted", || {
        std::fs::remove_dir_all(world.clone.path()).is_ok()
    });
    world.origin().git(&["clone", "--quiet", &origin, &path]);
    world
        .clone
        .git(&["remote", "set-url", "origin", coord_test_worlds::world::REPO_URL]);
}

// rule: servers#deleted-clone
#[test]
fn a_server_whose_clone_was_made_again_grants_nothing_and_ends() {
    let world = World::with(&[("a.txt", "a")]);
    assert_eq!(claims(&world, &world.clone, "one").0, 0);
    let (before, process) = (announced(&world.clone), world.server().unwrap());
    cloned_again(&world);
    let after = health(&before);
    let grants_nothing = after.as_deref().is_none_or(|status| status == "down");
    assert!(grants_nothing || has_ended(&process), "{after:?}");
    assert_eq!(claims(&world, &world.clone, "two").0, 0);
    assert_ne!(world.server().as_ref(), Some(&process));
    assert_eq!(claims(&world, &world.clone, "three").0, 3);
    block_until("the old server ends", || has_ended(&process));
}

#[test]
fn a_server_with_a_store_elsewhere_notices_that_its_clone_was_made_again() {
    let world = World::with(&[("a.txt", "a")]);
    let mut command = world.coord(world.clone.path());
    command
        .args(["serve", "--port", "0", "--data-dir"])
        .arg(world.folder("data"));
    let mut server = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let id = server.id().to_string();
    block_until("the server listens", || world.server().as_deref() == Some(&id));
    assert_eq!(health(&announced(&world.clone)).as_deref(), Some("ok"));
    cloned_again(&world);
    block_until("the server ends", || server.try_wait().unwrap().is_some());
    assert!(!server.wait().unwrap().success());
    let mut output = String::new();
    server.stderr.take().unwrap().read_to_string(&mut output).unwrap();
    assert!(output.contains("was deleted or replaced"), "{output}");
}
