//! `coord`: Coord on one machine.

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use coord_cli::cli::Cli;
use coord_cli::commands::Command;
use mimalloc::MiMalloc;
use tokio::runtime::Builder;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let command = cli.command.unwrap_or(Command::Serve(cli.serve));
    let is_short = command.is_short();
    // A graph is computed on blocking threads; one thread is enough for the rest, and starts faster.
    let runtime = if is_short {
        // The steps run one after another; beside the first, the index and attributes files are read.
        Builder::new_current_thread()
            .enable_time()
            .max_blocking_threads(2)
            .build()
    } else {
        Builder::new_multi_thread().enable_all().build()
    };
    let result = runtime.map_err(anyhow::Error::from).and_then(|runtime| {
        let result = runtime.block_on(command.run(Cli::command));
        if is_short {
            // Its threads have nothing left to do, and the process should not wait for them.
            runtime.shutdown_background();
        }
        result
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The reader may have closed standard error.
            let _ = writeln!(std::io::stderr(), "coord: {error:#}");
            ExitCode::FAILURE
        }
    }
}
