//! `coord doctor`: problems with the requirements of Coord here, and the commands that fix them.
//!
//! - `finding`: one check, and what it found
//! - `working_copy`: git, repository, branch, session
//! - `server`: the server, its store and its source, the token; `head`: the head of the branch; `server_log`: where the
//!   server says more
//! - `hot_files`: files where agents meet
//! - `hooks`: hooks that are configured, what they do, and when they last ran

mod finding;
mod head;
mod hooks;
mod hot_files;
mod mcp_entries;
mod server;
mod server_log;
mod working_copy;

use std::process::ExitCode;

use clap::Args;
use coord_agent::exit_status::ExitStatus;
use coord_agent::options::AgentArgs;
use coord_agent::terminal::output::{print, print_json, width};
use coord_agent::terminal::spinner::Spinner;
use coord_agent::workplace::{Workplace, work};

use self::finding::{Finding, State, text};

const EXAMPLES: &str = "\
The first line counts errors (it does not work) and warnings (it works, but could
be better). They come first, each with the command or the step that fixes it.
Hooks are run once, in a throw-away repository.

Exit status: 0 no errors, 1 errors, 2 wrong usage.";

/// Options of `coord doctor`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArgs {
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    pub agent: AgentArgs,
}

impl DoctorArgs {
    /// Looks at everything, and prints what it found.
    ///
    /// # Errors
    /// When it cannot be printed.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let looking = Spinner::start("looking at git, the server and the hooks");
        let findings = findings(&self.agent).await;
        drop(looking);
        match self.json {
            true => print_json(&findings)?,
            false => print(&text(&findings, width()))?,
        }
        let is_wrong = findings.iter().any(|finding| finding.state == State::Wrong);
        Ok(if is_wrong { ExitStatus::Error } else { ExitStatus::Done }.into())
    }
}

/// Checks that depend on a failed one are skipped.
async fn findings(args: &AgentArgs) -> Vec<Finding> {
    let mut findings = vec![working_copy::git().await];
    let work = match work(args) {
        Ok(work) => work,
        Err(error) => {
            findings.push(working_copy::not_found(&error));
            return findings;
        }
    };
    findings.extend(working_copy::all(&work).await);
    findings.extend(working_copy::default_branch(args, &work));
    findings.push(server::token_setting(args, &work));
    match Workplace::open(args) {
        Ok(workplace) => findings.extend(server::all(args, &workplace).await),
        Err(error) => findings.push(server::not_opened(args, &work, &error)),
    }
    findings.extend(hooks::all(&work.working_copy).await);
    findings.extend(mcp_entries::all(&work.working_copy));
    findings.extend(hot_files::all(&work.working_copy).await);
    findings
}
