//! `coord`: Coord on one machine.

use std::process::ExitCode;

use clap::Parser;
use coord_server::cli::{Cli, Command};
use coord_server::{graph_command, serve};
use mimalloc::MiMalloc;
use tokio::runtime::Builder;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let command = cli.command.unwrap_or(Command::Serve(cli.serve));
    // A graph is computed on blocking threads; for the little between them one thread is enough, and soonest there.
    let runtime = match command {
        Command::Serve(_) => Builder::new_multi_thread().enable_all().build(),
        Command::Graph(_) => Builder::new_current_thread().enable_all().build(),
    };
    let result = runtime.map_err(anyhow::Error::from).and_then(|runtime| {
        runtime.block_on(async {
            match command {
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
