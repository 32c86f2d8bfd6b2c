//! Where `coord serve` listens, and what a second one is told.

use crate::starting::{Running, refusal, serve_with};

#[test]
fn a_port_alone_is_one_of_this_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    for words in [["--listen", "0"], ["--port", "0"], ["--listen", "localhost:0"]] {
        let address = &Running::start(serve_with(folder.path(), &words, &[])).address;
        assert!(address.starts_with("127.0.0.1:"), "{words:?}: {address}");
    }
}

#[test]
fn a_second_server_prints_the_address_of_the_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Running::on_free_port(folder.path());
    let stderr = refusal(serve_with(folder.path(), &["--port", "0"], &[]));
    let (address, id) = (&first.address, first.process.id());
    assert!(
        stderr.starts_with(&format!(
            "coord: another coord serve listens on http://{address} (process {id})"
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
    let first = Running::on_free_port(folder.path()).address.clone();
    let next = Running::on_free_port(folder.path());
    let announced = std::fs::read_to_string(folder.path().join("data/listening")).expect("where it listens");
    assert!(
        announced.contains(&next.address) && !announced.contains(&first),
        "{announced}"
    );
}
