use super::*;

#[test]
fn a_pause_doubles_with_each_failure_up_to_a_quarter_of_an_hour() {
    let seconds = Duration::from_secs;
    assert_eq!(pause(seconds(30), 0), seconds(30));
    assert_eq!(pause(seconds(30), 1), seconds(60));
    assert_eq!(pause(seconds(30), 3), seconds(240));
    assert_eq!(pause(seconds(30), 4_000_000), seconds(900));
    assert_eq!(pause(seconds(3600), 5), seconds(3600));
}

#[test]
fn git_output_is_logged_without_credentials() {
    for (output, logged) in [
        ("", "git failed without a message"),
        (
            "warning: x\nfatal: no such remote\nPlease make sure\n",
            "fatal: no such remote",
        ),
        (
            "fatal: unable to access 'https://ada:hunter2@example.com/a/b.git/': 403",
            "fatal: unable to access 'https://example.com/a/b.git/': 403",
        ),
        (
            "fatal: https://t@x@h/a and ssh://git@h",
            "fatal: https://h/a and ssh://h",
        ),
        ("something else\n", "something else"),
    ] {
        assert_eq!(error_line(output), logged);
    }
}

#[cfg(unix)]
fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    let status = command.arg("-C").arg(folder).args(arguments).status().unwrap();
    assert!(status.success(), "{arguments:?}");
}

/// A repository with a remote that uses `ssh_command`.
#[cfg(unix)]
fn clone_with(folder: &Path, ssh_command: &str) -> FetchSettings {
    git(folder, &["init", "--quiet"]);
    git(
        folder,
        &["remote", "add", "origin", "ssh://git@example.invalid/a/b.git"],
    );
    FetchSettings {
        remotes: vec!["origin".to_owned()],
        ssh_command: Some(ssh_command.to_owned()),
    }
}

#[cfg(unix)]
fn script(folder: &Path, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("ssh");
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[cfg(unix)]
#[test]
fn a_fetch_never_prompts_for_credentials() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let ssh = script(
        folder.path(),
        &format!("(echo \"$@\"; env) > '{}'; exit 1", seen.display()),
    );
    let settings = clone_with(folder.path(), &ssh);
    let outcome = fetch(folder.path(), &settings, FETCH_TIMEOUT, &AtomicBool::new(false));
    assert!(
        matches!(&outcome, Outcome::Failed(why) if why.starts_with("origin: ")),
        "{outcome:?}"
    );
    let seen = std::fs::read_to_string(seen).unwrap();
    for part in [
        "-oBatchMode=yes",
        "\nGIT_TERMINAL_PROMPT=0\n",
        "\nGIT_ASKPASS=\n",
        "\nSSH_ASKPASS_REQUIRE=never\n",
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
}

/// Whether the process whose id is in `file` ends: a killed one may be listed for a moment longer.
#[cfg(target_os = "linux")]
fn ends(file: &Path) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    while is_running(file) && Instant::now() < deadline {
        thread::yield_now();
    }
    !is_running(file)
}

/// Whether the process whose id is in `file` exists.
#[cfg(target_os = "linux")]
fn is_running(file: &Path) -> bool {
    let id = std::fs::read_to_string(file).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", id.trim()));
    status.is_ok_and(|status| !status.contains("State:\tZ"))
}

#[cfg(target_os = "linux")]
#[test]
fn a_fetch_that_hangs_is_ended_with_all_that_it_has_started() {
    let folder = tempfile::tempdir().unwrap();
    let id = folder.path().join("id");
    let text = format!("echo $$ > '{0}.new'; mv '{0}.new' '{0}'; exec sleep 600", id.display());
    let settings = clone_with(folder.path(), &script(folder.path(), &text));
    let outcome = fetch(
        folder.path(),
        &settings,
        Duration::from_secs(1),
        &AtomicBool::new(false),
    );
    assert!(
        matches!(&outcome, Outcome::Failed(why) if why.contains("it did not end within 1 s")),
        "{outcome:?}"
    );
    assert!(ends(&id));

    std::fs::remove_file(&id).unwrap();
    let is_stopped = AtomicBool::new(false);
    thread::scope(|scope| {
        let fetching = scope.spawn(|| fetch(folder.path(), &settings, FETCH_TIMEOUT, &is_stopped));
        while !id.exists() {
            // time: between two looks for the process.
            thread::sleep(Duration::from_millis(10));
        }
        is_stopped.store(true, Ordering::Relaxed);
        assert_eq!(fetching.join().unwrap(), Outcome::Stopped);
    });
    assert!(ends(&id));
}

/// Requests to a [`slow_server`]: those under way, the most at one time, and those that have ended.
type Counts = (usize, usize, usize);

/// A server of git that takes its time and has nothing, and its requests.
fn slow_server() -> (String, Arc<std::sync::Mutex<Counts>>) {
    use std::io::Write;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let seen = Arc::new(std::sync::Mutex::new((0, 0, 0)));
    let counted = Arc::clone(&seen);
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let counted = Arc::clone(&counted);
            thread::spawn(move || {
                {
                    let mut counted = counted.lock().unwrap();
                    counted.0 += 1;
                    counted.1 = counted.1.max(counted.0);
                }
                let _ = stream.read(&mut [0; 4096]);
                // time: a remote that takes its time.
                thread::sleep(Duration::from_millis(200));
                let mut counted = counted.lock().unwrap();
                counted.0 -= 1;
                counted.2 += 1;
                let _ = stream.write_all(b"HTTP/1.1 404 X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            });
        }
    });
    (address, seen)
}

/// Three clones that are due at the same time.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn one_fetch_runs_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let (address, seen) = slow_server();
    let paths: Vec<PathBuf> = ["one", "two", "three"].map(|name| folder.path().join(name)).into();
    for path in &paths {
        std::fs::create_dir(path).unwrap();
        clone_with(path, "ssh");
        let name = path.file_name().unwrap().to_str().unwrap();
        let url = format!("{address}/a/{name}.git");
        git(path, &["remote", "set-url", "origin", &url]);
    }
    let source = Arc::new(GitSource::open(&paths).unwrap());
    let stop = async {
        while seen.lock().unwrap().2 < 3 {
            // time: between two looks at the remote.
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    keep_current(source, Duration::from_secs(5), stop, || {}).await;
    assert_eq!(seen.lock().unwrap().1, 1);
}

#[cfg(unix)]
#[test]
fn a_clone_whose_own_settings_name_a_program_or_a_proxy_is_not_fetched() {
    for (key, value) in [
        ("core.sshCommand", "touch ran;"),
        ("credential.helper", "!touch ran"),
        ("remote.origin.uploadpack", "touch ran;"),
        ("http.https://example.invalid.proxy", "http://127.0.0.1:1"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let settings = clone_with(folder.path(), "ssh");
        git(folder.path(), &["config", key, value]);
        let outcome = fetch(folder.path(), &settings, FETCH_TIMEOUT, &AtomicBool::new(false));
        let is_named = |why: &str| why.to_lowercase().contains(&key.to_lowercase()) && why.contains("--global");
        assert!(
            matches!(&outcome, Outcome::Failed(why) if is_named(why)),
            "{key}: {outcome:?}"
        );
        assert!(!folder.path().join("ran").exists(), "{key}");
    }
}
