//! What the content of a repository can make Coord do: every command of `coord`, found in its own list, is run in each hostile
//! repository. No program of the repository runs, and no credential leaves.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use clap::CommandFactory;
use coord_cli::cli::Cli;
use coord_test_support::git::Repo;

/// A server that notes what it gets.
fn canary() -> (u16, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen = Arc::new(Mutex::new(String::new()));
    let noted = Arc::clone(&seen);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = [0; 4096];
            let read = stream.read(&mut request).unwrap_or(0);
            noted
                .lock()
                .unwrap()
                .push_str(&String::from_utf8_lossy(&request[..read]));
            let _ = stream.write_all(b"HTTP/1.1 404 X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    (port, seen)
}

/// A configuration that names a program wherever git runs one, and the server at `url`.
fn hostile(ran: &Path, url: &str, secret: &Path) -> String {
    let run = format!("touch {};", ran.display());
    format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = \"{run}\"\n\thooksPath = hooks\n\tpager = \"{run}\"\n\
         \teditor = \"{run}\"\n\tsshCommand = \"{run}\"\n\taskPass = \"{run}\"\n\
         [diff]\n\texternal = \"{run}\"\n[diff \"x\"]\n\ttextconv = \"{run}\"\n\tcommand = \"{run}\"\n\
         [filter \"x\"]\n\tclean = \"{run}\"\n\tsmudge = \"{run}\"\n\tprocess = \"{run}\"\n\
         [log]\n\tshowSignature = true\n[gpg]\n\tprogram = \"{run}\"\n[trailer \"Coord-Intent\"]\n\tcmd = \"{run}\"\n\
         [credential]\n\thelper = \"!{run}\"\n\
         [coord]\n\turl = {url}\n\ttokenFile = {}\n",
        secret.display()
    )
}

/// Whether a file says that a program of the repository was run.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("home")).unwrap();
        std::fs::write(folder.path().join("secret"), "hunter2").unwrap();
        World { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn coord(&self, folder: &Path, args: &[String], input: &str) -> String {
        let mut command = Command::new("timeout");
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["COORD_", "GIT_", "XDG_"].iter().any(|prefix| text.starts_with(prefix)) {
                command.env_remove(&name);
            }
        }
        let mut running = command
            .args(["--kill-after=1", "4", env!("CARGO_BIN_EXE_coord")])
            .args(args)
            .current_dir(folder)
            .env("HOME", self.path("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("COORD_TOKEN", "hunter2")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let _ = running.stdin.take().unwrap().write_all(input.as_bytes());
        let output = running.wait_with_output().unwrap();
        format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for place in ["clone/.git", "hostile/.git"] {
            let announced = std::fs::read_to_string(self.path(place).join("coord/listening")).unwrap_or_default();
            if let Some(process) = announced.split("(process ").nth(1) {
                let _ = Command::new("kill").arg(process.trim_end_matches(')')).status();
            }
        }
    }
}

/// Every command with what it requires, from the list of the binary itself: a new one joins by itself.
fn commands() -> Vec<Vec<String>> {
    let mut found = Vec::new();
    collect(&Cli::command(), &[], &mut found);
    assert!(found.len() > 40, "{found:?}");
    found
}

fn collect(command: &clap::Command, words: &[String], found: &mut Vec<Vec<String>>) {
    let mut has_commands = false;
    for inner in command.get_subcommands() {
        has_commands = true;
        let words: Vec<String> = words.iter().cloned().chain([inner.get_name().to_owned()]).collect();
        collect(inner, &words, found);
    }
    if has_commands {
        return;
    }
    let mut line = words.to_vec();
    for argument in command.get_arguments() {
        if !argument.is_required_set() && argument.get_long() != Some("yes") {
            continue;
        }
        let value = argument
            .get_possible_values()
            .first()
            .map(|value| value.get_name().to_owned());
        match argument.get_long() {
            Some("yes") => line.push("--yes".to_owned()),
            Some(long) => line.extend([format!("--{long}"), value.unwrap_or_else(|| "1".to_owned())]),
            None => line.push(value.unwrap_or_else(|| "a.txt".to_owned())),
        }
    }
    found.push(line);
}

/// Runs every command and the hooks of an edit and a shell command in `folder`.
fn run_all(world: &World, folder: &Path) {
    for words in commands() {
        world.coord(folder, &words, "");
    }
    let file = folder.join("a.txt");
    for (tool, input) in [
        ("Edit", format!("{{\"file_path\":\"{}\"}}", file.display())),
        ("Bash", "{\"command\":\"make > a.txt\"}".to_owned()),
    ] {
        for event in ["SessionStart", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"] {
            let call = format!(
                "{{\"session_id\":\"s\",\"cwd\":\"{}\",\"hook_event_name\":\"{event}\",\"tool_name\":\"{tool}\",\"tool_input\":{input},\"source\":\"startup\"}}",
                folder.display()
            );
            let words = ["hook", "claude-code", event].map(str::to_owned);
            world.coord(folder, &words, &call);
        }
    }
}

#[test]
fn tracked_files_that_look_like_a_git_folder_are_files() {
    let world = World::new();
    let (port, seen) = canary();
    let clone = Repo::init(world.path("clone"), &[]);
    let ran = world.path("ran");
    let config = hostile(&ran, &format!("http://0.0.0.0:{port}"), &world.path("secret"));
    let config = config.replace("[core]\n", "[core]\n\tworktree = .\n");
    clone.commit(&[
        ("vendor/lib/HEAD", "ref: refs/heads/main\n"),
        ("vendor/lib/config", &config),
        ("vendor/lib/objects/x", ""),
        ("vendor/lib/refs/x", ""),
        ("vendor/lib/a.txt", "a\n"),
        ("vendor/lib/.gitattributes", "* filter=x diff=x\n"),
    ]);
    let lib = world.path("clone/vendor/lib");
    let found = coord_git::WorkingCopy::containing(&lib).unwrap();
    assert_eq!(found.root(), world.path("clone").canonicalize().unwrap());
    run_all(&world, &lib);
    assert!(!ran.exists(), "a program of the repository ran");
    assert_eq!(*seen.lock().unwrap(), "");
}

#[test]
fn a_git_folder_of_somebody_else_runs_nothing_and_learns_nothing() {
    for host in ["0.0.0.0", "127.0.0.1"] {
        let world = World::new();
        let (port, seen) = canary();
        let repo = Repo::init(world.path("hostile"), &[]);
        repo.commit(&[("a.txt", "a\n"), (".gitattributes", "* filter=x diff=x\n")]);
        let ran = world.path("ran");
        let config = hostile(&ran, &format!("http://{host}:{port}"), &world.path("secret"));
        std::fs::write(world.path("hostile/.git/config"), config).unwrap();
        std::fs::write(world.path("hostile/a.txt"), "b\n").unwrap();
        run_all(&world, &world.path("hostile"));
        assert!(!ran.exists(), "{host}: a program of the repository ran");
        let seen = seen.lock().unwrap();
        assert!(!seen.contains("hunter2"), "{host}: {seen}");
        assert!(host == "127.0.0.1" || seen.is_empty(), "{host}: {seen}");
        let said = world.coord(&world.path("hostile"), &["status".to_owned()], "");
        assert!(host == "127.0.0.1" || said.contains("coord trust"), "{said}");
    }
}

#[test]
fn a_working_tree_elsewhere_is_refused() {
    let world = World::new();
    let repo = Repo::init(world.path("hostile"), &[]);
    repo.commit(&[("a.txt", "a\n")]);
    repo.git(&["config", "core.worktree", &world.path("home").display().to_string()]);
    let said = world.coord(&world.path("hostile"), &["status".to_owned()], "");
    assert!(said.contains("core.worktree"), "{said}");
}

#[test]
fn git_is_run_from_one_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/src");
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("git/mod.rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let is_test = path.ends_with("tests.rs");
                assert!(is_test || !text.contains("Command::new(\"git\")"), "{}", path.display());
            }
        }
    }
}
