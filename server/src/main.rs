//! `coord`: Coord on one machine.

use std::process::ExitCode;

use clap::Parser;
use coord_server::cli::{Cli, Command};
use coord_server::{graph_command, serve};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let result = runtime.map_err(anyhow::Error::from).and_then(|runtime| {
        runtime.block_on(async {
            match cli.command.unwrap_or(Command::Serve(cli.serve)) {
                Command::Serve(args) => serve::serve(args).await,
                Command::Graph(args) => graph_command::print_graph(args).await,
            }
        })
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("coord: {error:#}");
            ExitCode::FAILURE
        }
    }
}
