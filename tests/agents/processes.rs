//! Processes that tests start and end: programs in the environment of `coord`, and the server of a clone.

use std::io::Write;
use std::process::{Child, Command, Output, Stdio};

use coord_test_support::waiting::block_until;
use coord_test_worlds::world::World;
pub use coord_test_worlds::world::program_like;

/// Starts `command` with its streams piped, writes `input` to it, and closes its input.
pub fn start_with(mut command: Command, input: &str) -> Child {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = pipes.stderr(Stdio::piped()).spawn().unwrap();
    // A program that refuses its call reads no input.
    let _ = running.stdin.take().unwrap().write_all(input.as_bytes());
    running
}

pub fn output_with(command: Command, input: &str) -> Output {
    start_with(command, input).wait_with_output().unwrap()
}

#[track_caller]
pub fn assert_success(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}

/// Sends the signal of `kill` to `process`.
#[track_caller]
pub fn kill(process: &str) {
    assert!(Command::new("kill").arg(process).status().unwrap().success());
}

/// Ends the server of the clone, and waits until it has ended.
#[track_caller]
pub fn end_server(world: &World) {
    kill(&world.server().unwrap());
    block_until("the server has ended", || world.server().is_none());
}
