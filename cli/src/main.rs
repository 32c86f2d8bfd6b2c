//! `coord`: Coord on one machine.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use coord_cli::cli::{self, parse};
use coord_cli::commands::{Command, Threads};
use coord_protocol::plain_text::visible_text;
use mimalloc::MiMalloc;
use tokio::runtime::Builder;

/// Time for the remaining work of a server's threads when all else has ended.
const LAST_WORK: Duration = Duration::from_secs(1);

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    coord_cli::read_with_git();
    let line = parse();
    let command = line.command.unwrap_or(Command::Serve(line.serve));
    let threads = command.threads();
    let runtime = match threads {
        // The steps of a graph run one after another, on blocking threads; beside the first, the index and attributes files
        // are read.
        Threads::Alone => Builder::new_current_thread()
            .enable_time()
            .max_blocking_threads(2)
            .build(),
        Threads::One => Builder::new_current_thread().enable_all().build(),
        Threads::Several => Builder::new_multi_thread().enable_all().build(),
    };
    let result = runtime.map_err(anyhow::Error::from).and_then(|runtime| {
        let result = runtime.block_on(command.run(cli::command));
        // A thread may wait for a disk that does not respond, and the process should not wait for that.
        match threads {
            Threads::Several => runtime.shutdown_timeout(LAST_WORK),
            Threads::Alone | Threads::One => runtime.shutdown_background(),
        }
        result
    });
    match result {
        Ok(code) => code,
        Err(error) => {
            // The reader may have closed standard error.
            let _ = writeln!(std::io::stderr(), "coord: {}", visible_text(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}
