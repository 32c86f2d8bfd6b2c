//! A person confirms a server, and the file of a token, that the repository's own settings name.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use coord_test_support::git::Repo;
use coord_test_support::skipping::skip;
use coord_test_support::waiting::block_until;

use super::sandbox::{SECRET, Sandbox};

/// The repository `clone` with one file.
fn clone(sandbox: &Sandbox) -> Repo {
    let repo = Repo::init(sandbox.path("clone"), &[]);
    repo.commit(&[("a.txt", "a\n")]);
    repo
}

/// Names `file` of the sandbox as the file of the token.
fn name_token_file(sandbox: &Sandbox, repo: &Repo, file: &str) {
    repo.git(&["config", "coord.tokenFile", &sandbox.path(file).display().to_string()]);
}

/// A repository whose own settings name the server of the sandbox by an address that is not loopback's.
fn repository(sandbox: &Sandbox) -> Repo {
    let repo = clone(sandbox);
    repo.git(&["config", "coord.url", &format!("http://0.0.0.0:{}", sandbox.port)]);
    name_token_file(sandbox, &repo, "outside/secret");
    repo
}

/// Runs the command `line` in a terminal in `folder` where the person types `typed`. No token is in the environment.
fn in_terminal(sandbox: &Sandbox, folder: &Path, line: &str, typed: &str) -> Option<String> {
    let is_there = Command::new("script").arg("--version").stdout(Stdio::null()).status();
    if is_there.is_err() {
        skip("the command script of util-linux is not installed");
        return None;
    }
    let mut script = Command::new("script");
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["COORD_", "GIT_", "XDG_"].iter().any(|prefix| text.starts_with(prefix)) {
            script.env_remove(&name);
        }
    }
    let programs = Path::new(env!("CARGO_BIN_EXE_coord")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut script = script
        .args(["--quiet", "--return", "--command", line, "/dev/null"])
        .env("PATH", path)
        .current_dir(folder)
        .env("HOME", sandbox.path("home"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    script.stdin.as_mut().unwrap().write_all(typed.as_bytes()).unwrap();
    let output = script.wait_with_output().unwrap();
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

// rule: servers#trust
#[test]
fn a_person_confirms_a_server_and_its_token_file_on_a_terminal_and_takes_it_back() {
    let sandbox = Sandbox::new();
    let repo = repository(&sandbox);
    let trust = |typed: &str| in_terminal(&sandbox, repo.path(), "coord trust", typed);
    let claim = || in_terminal(&sandbox, repo.path(), "coord claim a.txt --message x --agent one", "").unwrap();
    let assert_refused = || {
        let refused = claim();
        assert!(refused.contains("run `coord trust`"), "{refused}");
    };
    let Some(shown) = trust("n\n") else { return };
    for part in [
        format!(
            "the server http://0.0.0.0:{}, which gets your requests and COORD_TOKEN",
            sandbox.port
        ),
        format!("the file {}, whose text", sandbox.path("outside/secret").display()),
        "Trust it? [y/N]".to_owned(),
        "nothing was done".to_owned(),
    ] {
        assert!(shown.contains(&part), "{part}: {shown}");
    }
    assert_refused();
    assert_eq!(sandbox.seen(), "");

    assert!(trust("y\n").unwrap().contains("Confirmed."));
    let granted = claim();
    assert!(granted.contains("PROCEED"), "{granted}");
    let seen = sandbox.seen();
    assert!(
        seen.to_lowercase()
            .contains(&format!("authorization: bearer {SECRET}-file")),
        "{seen}"
    );
    assert!(trust("").unwrap().contains("confirmed this server already"));

    // Another file, or another server, is another question.
    name_token_file(&sandbox, &repo, "home/.netrc");
    assert_refused();
    name_token_file(&sandbox, &repo, "outside/secret");

    let removed = in_terminal(&sandbox, repo.path(), "coord trust --remove", "").unwrap();
    assert!(removed.contains("Removed"), "{removed}");
    let seen = sandbox.seen();
    assert_refused();
    assert_eq!(sandbox.seen(), seen);
}

// rule: servers#trust
#[test]
fn no_script_and_no_agent_confirms_a_server() {
    let sandbox = Sandbox::new();
    let repo = repository(&sandbox);
    let printed = sandbox.run(repo.path(), &["trust", "--yes"]);
    assert!(printed.contains("run it in a terminal"), "{printed}");
    let Some(printed) = in_terminal(&sandbox, repo.path(), "COORD_AGENT=one coord trust --yes", "y\n") else {
        return;
    };
    assert!(
        printed.contains("this takes a person, and one is an agent"),
        "{printed}"
    );
    assert_eq!(sandbox.seen(), "");
    assert!(!sandbox.path("home/.config/coord/servers.json").exists());
}

// rule: commands#trust
#[test]
fn a_server_that_a_person_names_for_coord_init_is_confirmed_and_no_other_one() {
    let sandbox = Sandbox::new();
    let repo = clone(&sandbox);
    let url = format!("http://0.0.0.0:{}", sandbox.port);
    let init = ["init", "codex", "--url", &url, "--yes", "--no-check", "--no-guard"];
    let printed = sandbox.run(repo.path(), &init);
    assert!(printed.contains("git config --local coord.url"), "{printed}");
    let claim = ["claim", "a.txt", "--message", "x", "--agent", "one"];
    let granted = sandbox.run(repo.path(), &claim);
    assert!(granted.contains("PROCEED"), "{granted}");
    assert!(sandbox.seen().contains(&format!("{SECRET}-token")));
    // The repository names another one, or a file for the token.
    for (key, value) in [
        ("coord.tokenFile", sandbox.path("outside/secret").display().to_string()),
        ("coord.url", format!("http://0.0.0.0:{}/", sandbox.port)),
    ] {
        repo.git(&["config", key, &value]);
        let before = sandbox.seen();
        let printed = in_terminal(&sandbox, repo.path(), "coord check a.txt", "");
        assert!(
            printed.is_none_or(|printed| printed.contains("run `coord trust`")),
            "{key}"
        );
        assert_eq!(sandbox.seen(), before, "{key}");
    }
}

/// Returns the output of `coord serve --fetch` until it has fetched the clone in `folder`, or says why not.
fn fetching(sandbox: &Sandbox, clone: &Repo) -> String {
    let log = sandbox.path("log");
    let file = std::fs::File::create(&log).unwrap();
    let mut serve = sandbox.command(clone.path(), 120);
    serve.args(["serve", "--port", "0", "--fetch", "5"]);
    serve
        .stdin(Stdio::null())
        .stdout(file.try_clone().unwrap())
        .stderr(file);
    let mut running = serve.spawn().unwrap();
    let printed = || std::fs::read_to_string(&log).unwrap();
    block_until("the clone is fetched, or is not", || {
        printed().contains("cannot be fetched") || clone.try_git(&["rev-parse", "refs/remotes/origin/main"]).is_ok()
    });
    // `timeout` hands the signal on.
    let ended = Command::new("kill").arg(running.id().to_string()).status();
    assert!(ended.unwrap().success());
    running.wait().unwrap();
    printed()
}

// rule: commands#safe-git
#[test]
fn a_clone_whose_own_configuration_redirects_is_not_fetched() {
    for (key, is_fetched) in [
        ("core.sshCommand", false),
        ("core.gitProxy", false),
        ("credential.helper", false),
        ("http.proxy", false),
        ("remote.origin.uploadpack", false),
        ("remote.origin.vcs", false),
        ("user.name", true),
    ] {
        let sandbox = Sandbox::new();
        let origin = Repo::init(sandbox.path("origin"), &[]);
        let commit = origin.commit(&[("a.txt", "a\n")]);
        let clone = Repo::init(sandbox.path("clone"), &[]);
        clone.git(&["remote", "add", "origin", &origin.path().display().to_string()]);
        clone.git(&["config", key, &format!("touch {};", sandbox.path("ran/it").display())]);
        let printed = fetching(&sandbox, &clone);
        let fetched = clone.try_git(&["rev-parse", "refs/remotes/origin/main"]);
        assert_eq!(fetched.as_ref() == Ok(&commit), is_fetched, "{key}: {printed}");
        assert_eq!(
            printed.contains("its own configuration sets"),
            !is_fetched,
            "{key}: {printed}"
        );
        assert_eq!(sandbox.ran(), [""; 0], "{key}");
    }
}

#[test]
fn a_git_that_hangs_is_ended_with_what_it_started() {
    let sandbox = Sandbox::new();
    let repo = clone(&sandbox);
    let path = repo.path();
    // Git waits for whoever writes to the pipe; Coord opens no included file.
    let pipe = path.join(".git/more");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut config = std::fs::read_to_string(path.join(".git/config")).unwrap();
    config += "[include]\n\tpath = more\n";
    std::fs::write(path.join(".git/config"), config).unwrap();
    let mut coord = Command::new(env!("CARGO_BIN_EXE_coord"));
    let output = coord
        .args(["init", "codex", "--yes", "--no-check"])
        .current_dir(path)
        .env("HOME", sandbox.path("home"))
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("git takes longer than 30s"), "{printed}");
    let root = path.display().to_string();
    let runs = || {
        let mut processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        processes.any(|process| {
            let line = std::fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
            line.starts_with("git\0") && line.contains(&root)
        })
    };
    // A process that was killed takes a moment to be gone.
    block_until("no git runs any more", || !runs());
}
