//! The page as a server gives it, and what it learns of that server.

use crate::starting::{Running, serve_with};

#[test]
fn any_process_on_this_machine_sees_the_served_repositories() {
    let folder = tempfile::tempdir().expect("a folder");
    let answer = Running::on_free_port(folder.path()).get("/served.json");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let list = r#"{"repositories":[{"branch":"main","repo_url":"https://github.com/team/project"}],"user":""#;
    assert!(answer.contains(list), "{answer}");
}

#[test]
fn the_names_of_repositories_are_hidden_when_callers_need_a_credential() {
    let folder = tempfile::tempdir().expect("a folder");
    let secret = [("COORD_JWT_SECRET", "a secret of the test that is long enough")];
    let running = Running::start(serve_with(folder.path(), &["--listen", "0.0.0.0:0"], &secret));
    let answer = running.get("/served.json");
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    assert!(!answer.contains("team/project"), "{answer}");
}

#[test]
fn the_page_is_served_with_its_modules_and_nothing_outside_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = Running::on_free_port(folder.path());
    let page = running.get("/");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let policy = "content-security-policy: default-src 'none'; script-src 'self';";
    assert!(page.contains(policy), "{page}");
    let module = running.get("/app/main.js");
    let is_script = module.contains("content-type: text/javascript; charset=utf-8");
    assert!(is_script, "{module}");
    for path in ["/app/none.js", "/../Cargo.toml", "/%2e%2e/Cargo.toml", "/app/"] {
        let answer = running.get(path);
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
        assert!(answer.contains("UNKNOWN_ROUTE"), "{path}: {answer}");
    }
}
