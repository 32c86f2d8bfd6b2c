//! Tests that lack a requirement.
//!
//! A skipped test passes as far as libtest knows, which also captures what tests print. So a skip is written to the terminal past
//! that, once for each reason in a binary, and noted in a file from which `what_was_skipped`, the last binary of `cargo test`,
//! counts them.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;

/// Says that the current test is skipped. With `COORD_TEST_REQUIRE=all` it fails.
pub fn skip(why: &str) {
    assert!(
        std::env::var("COORD_TEST_REQUIRE").as_deref() != Ok("all"),
        "COORD_TEST_REQUIRE=all, but {why}"
    );
    static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let binary = binary();
    if REPORTED.lock().expect("the reasons").insert(why.to_owned()) {
        // Only the macros are captured, not the stream itself.
        let _ = writeln!(std::io::stderr(), "SKIPPED: tests of {binary}: {why}");
    }
    let notes = notes();
    fs::create_dir_all(notes.parent().expect("a folder")).expect("a folder for what is skipped");
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(notes)
        .expect("notes of what is skipped");
    // One write each, which appends whole.
    let thread = std::thread::current();
    // libtest runs each test on a thread of its name, unless it may use one thread alone.
    let test = thread.name().unwrap_or_default();
    file.write_all(format!("{binary}\t{test}\t{why}\n").as_bytes())
        .expect("a note of what is skipped");
}

/// The name of this binary of tests, which has a hash behind it.
fn binary() -> String {
    let program = program();
    let name = program.file_stem().unwrap_or_default().to_string_lossy();
    name.rsplit_once('-').map_or(&*name, |(name, _)| name).to_owned()
}

fn program() -> PathBuf {
    std::env::current_exe().expect("this program")
}

/// The file of this run of `cargo test`, whose tests are all children of one process.
pub fn notes() -> PathBuf {
    #[cfg(unix)]
    let parent = std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    let parent = 0;
    // Process ids are reused; with the start time of the process, if the system reports it, they are unique.
    let status = fs::read_to_string(format!("/proc/{parent}/stat")).unwrap_or_default();
    let started = status
        .rsplit(')')
        .next()
        .and_then(|fields| fields.split_whitespace().nth(19));
    // Beside the build output of this profile: `target/debug/deps/NAME-HASH`.
    let deps = program();
    let built = deps.ancestors().nth(2).expect("a folder of builds");
    built
        .join("skipped")
        .join(format!("{parent}-{}", started.unwrap_or("0")))
}
