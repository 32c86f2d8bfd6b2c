//! Agents that contend for files.
//!
//! - [`run`]: one hour of them, by the scripts of the embedded store and a simulated clock
//! - here: all runs, and their figures beside each other

pub mod run;

use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Parser;

use run::{Habit, Outcome, Rules, Run};

/// Part of the files that are granted without the queue which the queue has to grant at least.
const LEAST_FILES: f64 = 0.97;
/// Part of the longest wait for five files without the queue which the queue may take at most, where agents insist.
const LONGEST_WAIT: f64 = 0.7;

/// Lets agents contend for files, with and without the queue.
#[derive(Debug, Parser)]
#[command(name = "cargo bench -p coord-cli --bench contest --")]
pub struct Options {
    /// Runs of an hour for each row, each from another seed
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: u64,
    /// Agents that work at once
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u8).range(2..))]
    pub agents: u8,
    /// Files for which they contend
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(5..))]
    pub files: u16,
    /// Seconds for which a waiting claim lets later ones take its files (COORD_QUEUE_PATIENCE); may be given several times
    #[arg(long, value_name = "SECONDS")]
    pub patience: Vec<u32>,
    /// Passed by cargo; has no effect
    #[arg(long, hide = true)]
    pub bench: bool,
}

/// The figures of all runs by the same rules.
struct Figures {
    files: f64,
    claims: f64,
    large_claims: f64,
    /// Part of all claims that were refused although no lock blocked them.
    held_back: f64,
    median_wait: Duration,
    /// The longest wait for five files in each run, on average.
    longest_wait: Duration,
}

impl Figures {
    fn of(outcomes: &[Outcome]) -> Figures {
        let mean = |figure: &dyn Fn(&Outcome) -> f64| outcomes.iter().map(figure).sum::<f64>() / outcomes.len() as f64;
        let mean_time = |figure: &dyn Fn(&Outcome) -> Duration| {
            Duration::from_secs_f64(mean(&|outcome| figure(outcome).as_secs_f64()))
        };
        Figures {
            files: mean(&|outcome| outcome.files as f64),
            claims: mean(&|outcome| outcome.waits.len() as f64),
            large_claims: mean(&|outcome| outcome.large_claims as f64),
            held_back: mean(&|outcome| outcome.held_back as f64 / outcome.claims as f64),
            median_wait: mean_time(&Outcome::median_wait),
            longest_wait: mean_time(&|outcome| outcome.longest_wait_for_five),
        }
    }

    fn row(&self, rules: Rules, habit: Habit) -> String {
        let name = match rules {
            Rules::NoQueue => "no queue".to_owned(),
            Rules::Queue { patience } => format!("queue, {patience} s of patience"),
        };
        format!(
            "| {habit}, {name} | {:.0} | {:.0} | {:.0} | {:.1} % | {:.0} s | {:.0} s |\n",
            self.files,
            self.claims,
            self.large_claims,
            100.0 * self.held_back,
            self.median_wait.as_secs_f64(),
            self.longest_wait.as_secs_f64(),
        )
    }
}

/// Plays all runs; the report.
///
/// # Errors
/// When the store fails, or the queue with the default patience misses one of its aims.
pub async fn contest(options: &Options) -> Result<String> {
    let Options {
        runs, agents, files, ..
    } = options;
    let default = coord_settings::QUEUE_PATIENCE_SECONDS;
    let patience = match options.patience.as_slice() {
        [] => &[default],
        several => several,
    };
    let mut report = format!(
        "{agents} agents for 1 to 5 of {files} files, an hour, {runs} runs a row.\n\n\
         | agents, rules | files | claims | of four or five files | held back | median wait | longest wait for five files |\n\
         |---|---:|---:|---:|---:|---:|---:|\n"
    );
    let mut missed = Vec::new();
    for habit in [Habit::GoesElsewhere, Habit::Insists] {
        let mut without: Option<Figures> = None;
        let with = patience.iter().map(|patience| Rules::Queue { patience: *patience });
        for rules in std::iter::once(Rules::NoQueue).chain(with) {
            let mut outcomes = Vec::new();
            for seed in 1..=*runs {
                let run = Run::new(seed, usize::from(*agents), usize::from(*files), habit, rules)?;
                outcomes.push(run.play().await?);
            }
            let figures = Figures::of(&outcomes);
            report.push_str(&figures.row(rules, habit));
            if let (Some(without), Rules::Queue { patience }) = (&without, rules) {
                let granted = figures.files / without.files;
                let wait = figures.longest_wait.as_secs_f64() / without.longest_wait.as_secs_f64();
                if patience == default && granted < LEAST_FILES {
                    missed.push(format!(
                        "{habit}: {granted:.3} of the files that are granted without the queue"
                    ));
                }
                if patience == default && habit == Habit::Insists && wait > LONGEST_WAIT {
                    missed.push(format!("{habit}: {wait:.2} of the longest wait without the queue"));
                }
            }
            without.get_or_insert(figures);
        }
    }
    ensure!(
        missed.is_empty(),
        "{report}\nThe queue misses its aims: {}",
        missed.join("; ")
    );
    Ok(report)
}
