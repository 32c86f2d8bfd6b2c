//! Where `coord serve` listens, and what a second one is told.

use std::process::Output;

use crate::starting::{Running, serve_with};

#[test]
fn a_port_alone_is_one_of_this_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    for words in [["--listen", "0"], ["--port", "0"], ["--listen", "localhost:0"]] {
        let running = Running::start(serve_with(folder.path(), &words, &[]));
        assert!(
            running.address.starts_with("127.0.0.1:"),
            "{words:?}: {}",
            running.address
        );
    }
}

#[test]
fn a_second_server_prints_the_address_of_the_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Running::start(serve_with(folder.path(), &["--port", "0"], &[]));
    let second = serve_with(folder.path(), &["--port", "0"], &[]).output();
    let Output { status, stderr, .. } = second.expect("coord runs");
    let stderr = String::from_utf8_lossy(&stderr);
    assert_eq!(status.code(), Some(1), "{stderr}");
    assert!(
        stderr.starts_with(&format!(
            "coord: another coord serve listens on http://{} (process {})",
            first.address,
            first.id()
        )),
        "{stderr}"
    );
    assert!(
        !stderr.contains("--data-dir") && !stderr.contains("directory"),
        "another folder would be another set of locks: {stderr}"
    );
}

#[test]
fn where_a_killed_one_listened_is_nothing_to_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Running::start(serve_with(folder.path(), &["--port", "0"], &[]))
        .address
        .clone();
    let next = Running::start(serve_with(folder.path(), &["--port", "0"], &[]));
    let announced = std::fs::read_to_string(folder.path().join("data/listening")).expect("where it listens");
    assert!(
        announced.contains(&next.address) && !announced.contains(&first),
        "{announced}"
    );
}
