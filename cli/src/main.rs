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
    // A graph is computed on blocking threads; for what is between them one thread is enough, and soonest there.
    let runtime = if is_short {
        // One piece of work follows the other; beside the first of them, the index and files of attributes are read.
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
            // Its threads have nothing left to do, and nobody should wait for them to end.
            runtime.shutdown_background();
        }
        result
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Whoever read may be gone.
            let _ = writeln!(std::io::stderr(), "coord: {error:#}");
            ExitCode::FAILURE
        }
    }
}
