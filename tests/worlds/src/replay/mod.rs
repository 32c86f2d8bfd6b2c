//! The cost of coordination on a real history: real commits of a repository, replayed by several agents at once against the real
//! server.
//!
//! - [`history`]: the tasks; [`branch`]: the branch that they land on, a source of the server
//! - [`clock`]: simulated time; [`server`]: the server in this process
//! - [`mode`]: the rules and habits of a run; [`agent`]: an agent; [`run`]: what all of them share; [`stage`]: a run
//! - [`conflicts`], [`interfaces`]: changes that would have collided
//! - [`account`], [`report`]: the figures

pub mod account;
pub mod agent;
pub mod branch;
pub mod clock;
pub mod conflicts;
pub mod git;
pub mod history;
pub mod interfaces;
pub mod mode;
pub mod report;
pub mod run;
pub mod server;
pub mod stage;

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Parser;

use branch::Base;
use conflicts::Conflicts;
use history::History;
use interfaces::Interfaces;
use mode::Mode;
use stage::{Outcome, Stage};

/// Replays real commits of a repository by several agents at once, and reports what their locks cost and what they save.
#[derive(Debug, Parser)]
#[command(name = "cargo bench -p coord-cli --bench replay --")]
pub struct Options {
    /// A clone with its history; nothing is written there
    #[arg(long, default_value = ".")]
    pub repository: PathBuf,
    /// Commits to replay: the last ones of the first parents, with at most 60 files each
    #[arg(long, default_value_t = 500)]
    pub commits: usize,
    /// The newest commit of these
    #[arg(long, default_value = "HEAD")]
    pub revision: String,
    /// Agents that work at once
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..))]
    pub agents: u8,
    /// Replay only the modes with this text in their names; may be given several times
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// Passed by cargo; has no effect
    #[arg(long, hide = true)]
    pub bench: bool,
}

/// Replays, and prints the report.
///
/// # Errors
/// When the repository cannot be read, an agent cannot go on, or something happened that a policy promises to exclude.
pub async fn replay(options: &Options) -> Result<()> {
    let history = History::read(&options.repository, &options.revision, options.commits)?;
    let base = Arc::new(Base::open(&options.repository, &history).await?);
    let stage = Stage {
        tasks: &history.tasks,
        base: Arc::clone(&base),
        interfaces: Interfaces::of(base),
        conflicts: RefCell::new(Conflicts::of(&options.repository)?),
        agents: options.agents.into(),
    };
    let mut outcomes: Vec<Outcome> = Vec::new();
    for mode in Mode::all() {
        let name = mode.to_string();
        if options.only.is_empty() || options.only.iter().any(|text| name.contains(text)) {
            let begin = Instant::now();
            let outcome = stage.play(mode).await?;
            eprintln!("{name}: {:.1} s", begin.elapsed().as_secs_f64());
            outcomes.push(outcome);
        }
    }
    println!("{}{}", about(options, &history, &outcomes), report::markdown(&outcomes));
    let violations = outcomes.iter().flat_map(|outcome| {
        let mode = &outcome.mode;
        outcome
            .violations
            .iter()
            .map(move |violation| format!("{mode}: {violation}"))
    });
    let violations: Vec<String> = violations.collect();
    if !violations.is_empty() {
        bail!("what the rules promise to exclude happened:\n{}", violations.join("\n"));
    }
    Ok(())
}

/// The sentences before the table.
fn about(options: &Options, history: &History, outcomes: &[Outcome]) -> String {
    let requests: u32 = outcomes.iter().map(|outcome| outcome.requests).sum();
    let busy: f64 = outcomes.iter().map(|outcome| outcome.busy.as_secs_f64()).sum();
    format!(
        "{} commits ({} between them left out), {} agents, {:.1} minutes a task on average. {requests} requests took {:.2} ms each, which \
         is no part of the simulated time.\n\n",
        history.tasks.len(),
        history.left_out,
        options.agents,
        history.mean_length().as_secs_f64() / 60.0,
        busy * 1e3 / f64::from(requests.max(1))
    )
}
