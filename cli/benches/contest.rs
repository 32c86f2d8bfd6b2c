//! Costs and benefits of the queue: `cargo bench -p coord-cli --bench contest`.
//!
//! Agents contend for a few files, an hour in simulated time, with and without the queue. It ends with an error if the queue costs or
//! gives less than `docs/internals/benchmarks.md` promises.

use std::process::ExitCode;

use clap::Parser;
use coord_test_worlds::contest::{Options, contest};

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let contested = runtime
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(contest(&Options::parse())));
    match contested {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
