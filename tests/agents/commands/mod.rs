//! The commands of people and scripts: `coord check`, `claim`, `release`, `status`, `log`, `doctor`, `simulate`.

mod claiming;
mod doctor;
mod intents;
mod log;
mod naming_files;
mod releasing;
mod simulate;
mod status;
mod teams;
pub mod terminal;
mod usage;
mod waiting;
mod without_answer;

use std::process::Output;

use serde_json::Value;

use coord_test_worlds::world::World;

/// A clone in which `src/auth.ts` imports `src/db.ts`.
fn world() -> World {
    World::with(&[
        ("README.md", "# Shop\n"),
        ("src/auth.ts", "import { query } from './db';\n"),
        ("src/db.ts", "export const query = 1;\n"),
        ("src/auth/login.ts", "export const login = 1;\n"),
        ("src/auth/deep/token.ts", "export const token = 1;\n"),
    ])
}

/// The exit status, what was printed and what was said on standard error.
pub fn parts(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap_or(-1),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// Runs `coord ARGS` in the clone.
fn run(world: &World, args: &[&str]) -> (i32, String, String) {
    parts(&world.run(args))
}

/// Returns the output of `coord ARGS`, which must exit with `status`.
#[track_caller]
pub fn printed(world: &World, args: &[&str], status: i32) -> String {
    let (code, out, error) = run(world, args);
    assert_eq!(code, status, "{args:?}: {out}{error}");
    out
}

/// Returns the standard error of `coord ARGS`, which must exit with `status`.
#[track_caller]
pub fn error(world: &World, args: &[&str], status: i32) -> String {
    let (code, out, error) = run(world, args);
    assert_eq!(code, status, "{args:?}: {out}{error}");
    error
}

/// The JSON that `coord ARGS` prints; it has to end with `status`.
#[track_caller]
pub fn json(world: &World, args: &[&str], status: i32) -> Value {
    let printed = printed(world, args, status);
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{args:?}: {error}: {printed}"))
}

/// Returns the output of `coord claim FILE -m MESSAGE` of an agent, which must exit with `status`.
#[track_caller]
fn claim(world: &World, agent: &str, file: &str, message: &str, status: i32) -> String {
    printed(world, &["claim", file, "-m", message, "--agent", agent], status)
}

/// The files of all locks, as `coord status` shows them.
fn locked(world: &World) -> Vec<String> {
    let status = json(world, &["status", "--json"], 0);
    let locks = status["locks"].as_array().unwrap().iter();
    locks
        .map(|lock| lock["file_path"].as_str().unwrap().to_owned())
        .collect()
}

/// `text` without what differs from one machine and run to another: the user, commits, and seconds that have passed.
fn steady(text: &str, world: &World) -> String {
    let reading = ["claim", "README.md", "-m", "Finding out who this is", "--reading"];
    printed(world, &[&reading[..], &["--agent", "who"]].concat(), 0);
    let status = json(world, &["status", "--agent", "who", "--json"], 0);
    let user = status["locks"][0]["user"].as_str().unwrap();
    printed(world, &["release", "README.md", "--agent", "who"], 0);
    // Whether the graph is built already.
    let lines = text.lines().filter(|line| !line.starts_with("GRAPH_"));
    let mut text = lines.collect::<Vec<&str>>().join("\n").replace(user, "USER");
    for seconds in 295..=301 {
        text = text.replace(&format!("in {seconds} s"), "in 300 s");
    }
    text
}
