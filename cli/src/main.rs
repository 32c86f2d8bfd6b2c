//! `coord`: Coord on one machine.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use coord_agent::exit_status::ExitStatus;
use coord_cli::cli::{self, parse};
use coord_cli::commands::{Command, Threads};
use coord_protocol::plain_text::visible_text;
use mimalloc::MiMalloc;
use tokio::runtime::Builder;

/// How long a server's threads may still work after everything else has ended.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    // Git reads repositories that gix cannot read.
    coord_git::register_git(coord_agent::git::ask);
    let line = parse();
    let command = line.command.unwrap_or(Command::Serve(line.serve));
    let threads = command.threads();
    let runtime = match threads {
        // The steps of a graph run one after another on a blocking thread. During the first step, a second thread reads
        // the index and the attributes files.
        Threads::OneOffline => Builder::new_current_thread()
            .enable_time()
            .max_blocking_threads(2)
            .build(),
        Threads::One => Builder::new_current_thread().enable_all().build(),
        Threads::OnePerCore => Builder::new_multi_thread().enable_all().build(),
    };
    let result = runtime.map_err(anyhow::Error::from).and_then(|runtime| {
        let result = runtime.block_on(command.run(cli::command));
        // A thread may be blocked on a disk that does not respond; the process must not wait for it.
        match threads {
            Threads::OnePerCore => runtime.shutdown_timeout(SHUTDOWN_TIMEOUT),
            Threads::OneOffline | Threads::One => runtime.shutdown_background(),
        }
        result
    });
    match result {
        Ok(code) => code,
        Err(error) => {
            // The reader may have closed standard error.
            let _ = writeln!(std::io::stderr(), "coord: {}", visible_text(&format!("{error:#}")));
            ExitStatus::of_error(&error).into()
        }
    }
}
