//! One hour of simulated agents: they claim files, hold them, release them, and claim others.

use coord_test_support::embedded;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use coord_domain::{AgentId, FilePath, NeighborPolicy};
use coord_embedded::EmbeddedStore;
use coord_state::locks::{ClaimOutcome, PolicyTerms, Relation, ReleaseOutcome, keys};
use coord_store::{Request, Store};

use crate::script_agent::ScriptAgent;

/// When a run begins, in Unix seconds: 1 January 2026.
const BEGIN: u64 = 1_767_225_600;

const HOUR_MS: u64 = 3_600_000;

/// Milliseconds for which files are held, at least and at most.
const HELD_MS: (u64, u64) = (30_000, 150_000);

/// Milliseconds until the next claim: `sleep 5`, as WAIT says, and what an agent takes for a turn.
const PAUSE_MS: (u64, u64) = (5_000, 6_000);

/// How an agent reacts to a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// It claims other files, as SWITCH_TASK says.
    GoesElsewhere,
    /// It claims the same files again, as WAIT says.
    Insists,
}

impl fmt::Display for Habit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Habit::GoesElsewhere => "go elsewhere",
            Habit::Insists => "insist",
        })
    }
}

/// Whether refused claims wait in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// The first claim after a release has the files.
    NoQueue,
    /// They wait, and have so many seconds of patience.
    Queue { patience: u32 },
}

/// Counters and times of one run.
#[derive(Default)]
pub struct Outcome {
    /// Files that were granted.
    pub files: usize,
    /// Granted claims of four or five files.
    pub large_claims: usize,
    /// Claims that were made, granted or not.
    pub claims: usize,
    /// Claims that were refused although no lock blocked them.
    pub held_back: usize,
    /// The time from the first claim to the grant, of each claim that was granted.
    pub waits: Vec<Duration>,
    /// The longest of these for five files; a wait that lasts at the end counts.
    pub longest_wait_for_five: Duration,
}

impl Outcome {
    pub fn median_wait(&self) -> Duration {
        let mut waits = self.waits.clone();
        waits.sort();
        waits.get(waits.len() / 2).copied().unwrap_or_default()
    }
}

/// Numbers that follow from a seed (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn between(&mut self, (least, most): (u64, u64)) -> u64 {
        least + self.next() % (most - least + 1)
    }
}

/// An agent's next step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// It wants other files.
    Begin,
    /// It claims its files.
    Claim,
    /// Release the files.
    Release,
}

struct Agent {
    caller: ScriptAgent,
    files: Vec<FilePath>,
    /// When it first claimed these.
    since: u64,
    is_waiting: bool,
}

pub struct Run {
    numbers: Numbers,
    habit: Habit,
    rules: Rules,
    files: usize,
    now: Arc<AtomicU64>,
    agents: Vec<Agent>,
    steps: BinaryHeap<Reverse<(u64, u64, Step, usize)>>,
    store: EmbeddedStore,
    outcome: Outcome,
}

impl Run {
    /// # Errors
    /// When the store cannot be opened.
    pub fn new(seed: u64, agents: usize, files: usize, habit: Habit, rules: Rules) -> Result<Run> {
        let now = Arc::new(AtomicU64::new(0));
        let clock = Arc::clone(&now);
        let time = move || -> SystemTime {
            UNIX_EPOCH + Duration::from_secs(BEGIN) + Duration::from_millis(clock.load(Ordering::Relaxed))
        };
        let patience_seconds = match rules {
            Rules::NoQueue => coord_settings::QUEUE_PATIENCE_SECONDS,
            Rules::Queue { patience } => patience,
        };
        let agent = |number: usize| {
            let mut caller = ScriptAgent::new("https://example.com/acme/shop")?;
            caller.holder.agent_id = Some(AgentId::parse(&format!("agent-{number}"))?);
            caller.policy = PolicyTerms {
                patience_seconds,
                ..PolicyTerms::of(NeighborPolicy::Off)
            };
            Ok(Agent {
                caller,
                files: Vec::new(),
                since: 0,
                is_waiting: false,
            })
        };
        let mut run = Run {
            numbers: Numbers(seed),
            habit,
            rules,
            files,
            now,
            agents: (0..agents).map(agent).collect::<Result<_>>()?,
            steps: BinaryHeap::new(),
            store: embedded::in_memory_by(time),
            outcome: Outcome::default(),
        };
        for agent in 0..agents {
            run.after(PAUSE_MS, Step::Begin, agent);
        }
        Ok(run)
    }

    fn after(&mut self, (least, most): (u64, u64), step: Step, agent: usize) {
        let at = self.now.load(Ordering::Relaxed) + self.numbers.between((least, most));
        // Among equals, the one that has waited longest is not the first.
        let order = self.numbers.next();
        self.steps.push(Reverse((at, order, step, agent)));
    }

    /// Plays the hour.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn play(mut self) -> Result<Outcome> {
        while let Some(Reverse((at, _, step, agent))) = self.steps.pop() {
            if at >= HOUR_MS {
                break;
            }
            self.now.store(at, Ordering::Relaxed);
            match step {
                Step::Begin => {
                    self.choose(agent)?;
                    self.claim(agent, at).await?;
                }
                Step::Claim => self.claim(agent, at).await?,
                Step::Release => self.release(agent).await?,
            }
        }
        for agent in 0..self.agents.len() {
            if self.agents[agent].is_waiting {
                self.note_wait(agent, HOUR_MS);
            }
        }
        Ok(self.outcome)
    }

    /// The agent wants one to five files.
    fn choose(&mut self, agent: usize) -> Result<()> {
        let count = usize::try_from(self.numbers.between((1, 5)))?;
        let mut all: Vec<usize> = (0..self.files).collect();
        let mut files = Vec::new();
        for _ in 0..count {
            let place = usize::try_from(self.numbers.next() % all.len() as u64)?;
            files.push(FilePath::parse(&format!("src/{}.ts", all.swap_remove(place)))?);
        }
        let now = self.now.load(Ordering::Relaxed);
        let agent = &mut self.agents[agent];
        (agent.files, agent.since, agent.is_waiting) = (files, now, true);
        Ok(())
    }

    fn note_wait(&mut self, agent: usize, until: u64) -> Duration {
        let wait = Duration::from_millis(until - self.agents[agent].since);
        if self.agents[agent].files.len() == 5 {
            self.outcome.longest_wait_for_five = self.outcome.longest_wait_for_five.max(wait);
        }
        wait
    }

    async fn claim(&mut self, agent: usize, now: u64) -> Result<()> {
        if self.rules == Rules::NoQueue {
            let queue = keys::queue(&self.agents[agent].caller.repo);
            self.store.run(vec![Request::command(["DEL", &queue])]).await?;
        }
        let Agent { caller, files, .. } = &self.agents[agent];
        let outcome = caller.claim(&self.store, files).await?;
        self.outcome.claims += 1;
        match outcome {
            ClaimOutcome::Claimed(_) => {
                let count = self.agents[agent].files.len();
                self.outcome.files += count;
                self.outcome.large_claims += usize::from(count >= 4);
                let wait = self.note_wait(agent, now);
                self.outcome.waits.push(wait);
                self.agents[agent].is_waiting = false;
                self.after(HELD_MS, Step::Release, agent);
            }
            ClaimOutcome::Conflict(survey) => {
                let mut blocking = survey.findings.iter().filter(|finding| finding.blocks);
                self.outcome.held_back += usize::from(blocking.all(|finding| finding.relation == Relation::Reserved));
                let next = match self.habit {
                    Habit::GoesElsewhere => Step::Begin,
                    Habit::Insists => Step::Claim,
                };
                self.after(PAUSE_MS, next, agent);
            }
            other => bail!("{other:?}"),
        }
        Ok(())
    }

    async fn release(&mut self, agent: usize) -> Result<()> {
        let Agent { caller, files, .. } = &self.agents[agent];
        match caller.release(&self.store, files, true).await? {
            ReleaseOutcome::Released(_) => {}
            other => bail!("a release: {other:?}"),
        }
        self.after(PAUSE_MS, Step::Begin, agent);
        Ok(())
    }
}
