//! `coord`: Coord on one machine.

use std::process::ExitCode;

use clap::Parser;
use coord_server::cli::{Cli, Command};
use coord_server::serve;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let Command::Serve(args) = cli.command.unwrap_or(Command::Serve(cli.serve));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let result = runtime
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(serve::serve(args)));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("coord: {error:#}");
            ExitCode::FAILURE
        }
    }
}
