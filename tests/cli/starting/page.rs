//! What the page learns of the server behind it.

use crate::starting::{Running, serve_with};

#[test]
fn whoever_is_on_this_machine_sees_what_is_served() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = Running::start(serve_with(folder.path(), &["--port", "0"], &[]));
    let answer = running.get("/served.json");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let list = r#"{"repositories":[{"branch":"main","repo_url":"https://github.com/team/project"}]}"#;
    assert!(answer.ends_with(list), "{answer}");
}

#[test]
fn where_callers_must_show_who_they_are_the_names_of_repositories_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let secret = [("COORD_JWT_SECRET", "a secret of the test that is long enough")];
    let running = Running::start(serve_with(folder.path(), &["--listen", "0.0.0.0:0"], &secret));
    let answer = running.get("/served.json");
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    assert!(!answer.contains("team/project"), "{answer}");
}
