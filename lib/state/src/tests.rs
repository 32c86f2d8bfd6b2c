use std::fs;
use std::path::{Path, PathBuf};

use coord_library::Part;

use crate::extension::{Extension, register, registered};

/// All files with this extension in a folder of the crate, and in the folders in it.
fn files_in(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The code that may create or decode requests of the store: the state, the connections, the embedded store, the commands that export
/// and wipe a store, and the fake store of a test.
const MAKES_REQUESTS: [&str; 7] = [
    "/../state/src/",
    "/../intents_state/src/",
    "/../teams_state/src/",
    "/../store/src/",
    "/../embedded/",
    "/cli/src/commands/store/",
    "/../events/src/fake.rs",
];

/// Whether a line of code creates or decodes a request of the store.
fn names_a_request(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    ["Request::command(", "Request::Command", "Request::Script"]
        .iter()
        .any(|name| code.contains(name))
}

#[test]
fn no_request_of_the_store_is_made_outside_of_the_state() {
    let (mut inside, mut outside) = (0, Vec::new());
    for file in ["..", "../../cli/src"].iter().flat_map(|folder| files_in(folder, "rs")) {
        let text = fs::read_to_string(&file).expect("a file of code");
        let count = text.lines().filter(|line| names_a_request(line)).count();
        let path = file.to_string_lossy().replace('\\', "/");
        if MAKES_REQUESTS.iter().any(|place| path.contains(place)) {
            inside += count;
        } else if count > 0 {
            outside.push(path);
        }
    }
    assert!(
        outside.is_empty(),
        "a typed call of the state is missing for {outside:#?}"
    );
    assert!(inside > 20, "the requests of the state are found");
}

/// If it were registered later, calls of the functions that it adds would lack its keys.
#[test]
#[should_panic(expected = "late is registered after a call of the store")]
fn an_extension_is_registered_before_the_first_call() {
    static LATE: Extension = Extension {
        name: "late",
        lua: Part {
            modules: &[],
            functions: &[],
        },
        scripts: &[],
        keys: |_| Vec::new(),
        rare_keys: |_| Vec::new(),
        sweep_keys: |_| Vec::new(),
        read_unfinished: |_| None,
        expendable: &[],
    };
    assert_eq!(registered().len(), 0);
    register(&LATE);
}
