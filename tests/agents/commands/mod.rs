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
fn printed(world: &World, args: &[&str], status: i32) -> String {
    let (code, out, error) = run(world, args);
    assert_eq!(code, status, "{args:?}: {out}{error}");
    out
}

/// The JSON that `coord ARGS` prints; it has to end with `status`.
fn json(world: &World, args: &[&str], status: i32) -> serde_json::Value {
    let printed = printed(world, args, status);
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{args:?}: {error}: {printed}"))
}

/// `text` without what differs from one machine and run to another: the user, commits, and seconds that have passed.
fn steady(text: &str, world: &World) -> String {
    let user = json(
        world,
        &[
            "claim",
            "README.md",
            "-m",
            "Finding out who this is",
            "--reading",
            "--json",
            "--agent",
            "who",
        ],
        0,
    );
    assert_eq!(user["success"], true);
    let status = json(world, &["status", "--agent", "who", "--json"], 0);
    let user = status["locks"][0]["user"].as_str().unwrap().to_owned();
    printed(world, &["release", "README.md", "--agent", "who"], 0);
    // Whether the graph is built already.
    let lines = text.lines().filter(|line| !line.starts_with("GRAPH_"));
    let mut text = lines.collect::<Vec<&str>>().join("\n").replace(&user, "USER");
    for seconds in (295..=301).map(|seconds| seconds.to_string()) {
        text = text.replace(&format!("in {seconds} s"), "in 300 s");
    }
    text
}
