//! `coord doctor`: problems with the requirements of Coord here, and the commands that fix them.
//!
//! - `finding`: the result of one check
//! - `working_copy`: git, repository, branch, session
//! - `server`: the server, its store and its source, the token; `head`: the head of the branch
//! - `hot_files`: files that many agents change
//! - `hooks`: hooks that are configured, what they do, and when they last ran
//! - `mcp_entries`: whether hooks and MCP server agree

mod finding;
mod head;
mod hooks;
mod hot_files;
mod mcp_entries;
mod server;
mod working_copy;

use std::process::ExitCode;

use clap::Args;
use coord_agent::exit_status::ExitStatus;
use coord_agent::options::AgentArgs;
use coord_agent::terminal::output::{print_as, width};
use coord_agent::terminal::spinner::Spinner;
use coord_agent::workplace::{Workplace, work};

use self::finding::{Finding, State, render};

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
    /// Runs all checks, and prints their findings.
    ///
    /// # Errors
    /// When they cannot be printed.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let spinner = Spinner::start("looking at git, the server and the hooks");
        let findings = run_checks(&self.agent).await;
        drop(spinner);
        print_as(self.json, &findings, |findings| render(findings, width()))?;
        let status = match findings.iter().any(|finding| finding.state == State::Wrong) {
            true => ExitStatus::Error,
            false => ExitStatus::Done,
        };
        Ok(status.into())
    }
}

/// Skips the checks that depend on a failed one.
async fn run_checks(args: &AgentArgs) -> Vec<Finding> {
    let mut findings = vec![working_copy::check_git().await];
    let work = match work(args) {
        Ok(work) => work,
        Err(error) => {
            findings.push(working_copy::open_failure(&error));
            return findings;
        }
    };
    findings.extend(working_copy::check(&work).await);
    findings.extend(working_copy::check_default_branch(args, &work));
    findings.push(server::check_token(args, &work));
    match Workplace::open(args) {
        Ok(workplace) => findings.extend(server::check(args, &workplace).await),
        Err(error) => findings.push(server::open_failure(args, &work, &error)),
    }
    findings.extend(hooks::check(&work.working_copy).await);
    findings.extend(mcp_entries::check(&work.working_copy));
    findings.extend(hot_files::check(&work.working_copy).await);
    findings
}
