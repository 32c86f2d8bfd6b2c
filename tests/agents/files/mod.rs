//! The files of `.orchestration/`: `coord sync`, `coord serve --sync` and `coord ledger verify`.

mod adoption;
mod served;
mod verdicts;

use std::path::PathBuf;

use serde_json::Value;

use crate::commands::parts;
use coord_test_worlds::world::World;

/// The repository of a world, as a chain names it.
const REPOSITORY: &str = "github.com/team/project";

/// Lines of another program.
const FOREIGN: &str = "{\"actor\":\"x\",\"summary\":\"Wrote a\"}\n{ \"actor\": \"y\" }\r\n";

fn world() -> World {
    World::with(&[("README.md", "# Shop\n"), ("src/db.ts", "export const query = 1;\n")])
}

/// The path of a file of the folder.
fn file(world: &World, name: &str) -> PathBuf {
    world.clone.path().join(".orchestration").join(name)
}

fn read(world: &World, name: &str) -> String {
    std::fs::read_to_string(file(world, name)).unwrap_or_default()
}

fn write(world: &World, name: &str, text: &str) {
    std::fs::create_dir_all(file(world, "")).unwrap();
    std::fs::write(file(world, name), text).unwrap();
}

/// Returns the standard output and standard error of `coord ARGS`, which must exit with `status`.
fn run_coord(world: &World, args: &[&str], status: i32) -> (String, String) {
    let (ended, out, error) = parts(&world.run(args));
    assert_eq!(ended, status, "{args:?}: {out}{error}");
    (out, error)
}

/// The JSON that `coord ARGS` prints; it has to end with `status`.
fn json(world: &World, args: &[&str], status: i32) -> Value {
    serde_json::from_str(&run_coord(world, args, status).0).unwrap()
}

/// An intent that is selected: two lines of the ledger.
fn begin(world: &World, id: &str, scope: &str) {
    run_coord(world, &["intent", "new", id, "--name", "Pool", "--scope", scope], 0);
    run_coord(world, &["intent", "select", id], 0);
}
