//! Costs and savings of locks on a real history: `cargo bench -p coord-cli --bench replay -- --repository PATH --commits
//! 500`.
//!
//! Prints a row for each policy and habit of the agents. It ends with an error if a run has a conflict or a hazard that its policy
//! promises to exclude. `docs/internals/benchmarks.md` has the method.

use std::process::ExitCode;

use clap::Parser;
use coord_test_worlds::replay::{Options, replay};

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let replayed = runtime
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(replay(&Options::parse())));
    match replayed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
