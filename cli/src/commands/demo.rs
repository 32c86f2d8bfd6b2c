//! `coord demo`: the page with agents at work, in a throw-away repository.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use coord_agent::options::AgentArgs;
use coord_agent::signals::Signals;
use coord_agent::terminal::output::{FAINT, STRONG, print, styled};
use coord_agent::work::Work;
use coord_domain::AgentId;
use coord_protocol::messages::SendMessageRequest;
use coord_protocol::tasks::{ClaimTaskRequest, CompleteTaskRequest, NewTask, NewTasksRequest, TaskWork};
use coord_protocol::teams::{JoinTeamRequest, NewTeamRequest, TeamActor, TeamCaller};
use coord_protocol::{Action, Client, LockMode, PostRequest};
use futures::future::try_join_all;
use tokio::sync::Mutex;
use tokio::time::sleep;

use super::scratch::{BRANCH, Scratch};

const AFTER_HELP: &str = "\
The agents keep working on their own: they claim files, wait for each other,
push and take the next task. Ctrl-C ends the demo and deletes all that it has
made.";

/// Time limit of a request: longer than [`WAIT_SECONDS`].
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the server may hold a claim that has to wait.
const WAIT_SECONDS: u32 = 10;

/// Time between the starts of two agents, so that each meets the locks of those before it.
const STAGGER: Duration = Duration::from_millis(300);

/// Time between two jobs of an agent.
const REST: Duration = Duration::from_secs(5);

const TEAM: &str = "checkout";

/// The agents, in the order in which they start. The first leads the team.
const AGENTS: [&str; 4] = ["ada", "dan", "bob", "cleo"];

const SCENE: &str = "  ada   writes src/db.ts
  bob   is blocked: src/auth.ts imports src/db.ts, which ada is changing
  cleo  waits in the queue for src/db.ts
  dan   writes src/ui/cart.ts and src/ui/theme.ts
";

/// The files of the repository, each with its imports and its number of other lines.
const FILES: [(&str, &[&str], usize); 18] = [
    ("src/db.ts", &["./config"], 60),
    ("src/auth.ts", &["./db", "./crypto"], 45),
    ("src/crypto.ts", &[], 25),
    ("src/config.ts", &[], 12),
    ("src/cart.ts", &["./db", "./price"], 50),
    ("src/price.ts", &["./config"], 30),
    ("src/orders.ts", &["./db", "./cart", "./mail"], 70),
    ("src/mail.ts", &["./config"], 20),
    ("src/stock.ts", &["./db"], 35),
    ("src/search.ts", &["./db"], 40),
    ("src/server.ts", &["./auth", "./orders", "./stock", "./search"], 55),
    ("src/ui/app.ts", &["./cart", "./login", "./search"], 45),
    ("src/ui/cart.ts", &["../price", "./theme"], 60),
    ("src/ui/login.ts", &["./theme"], 30),
    ("src/ui/search.ts", &["./theme"], 30),
    ("src/ui/theme.ts", &[], 80),
    ("test/orders.test.ts", &["../src/orders"], 40),
    ("test/price.test.ts", &["../src/price"], 20),
];

/// A task, and the agent that does it.
struct Job {
    agent: &'static str,
    title: &'static str,
    files: &'static [&'static str],
    /// The reason of the claim.
    reason: &'static str,
    /// Seconds of work.
    seconds: u64,
    /// The message that the agent sends at the start: recipient and text.
    message: Option<(&'static str, &'static str)>,
    /// Titles of the jobs that must be done first.
    dependencies: &'static [&'static str],
}

const fn job(
    agent: &'static str,
    title: &'static str,
    files: &'static [&'static str],
    reason: &'static str,
    seconds: u64,
) -> Job {
    Job {
        agent,
        title,
        files,
        reason,
        seconds,
        message: None,
        dependencies: &[],
    }
}

const JOBS: [Job; 8] = [
    Job {
        message: Some((
            "broadcast",
            "query() becomes async: please await it once my push is there.",
        )),
        ..job(
            "ada",
            "Pool the connections",
            &["src/db.ts"],
            "Adding a pool: query() becomes async",
            90,
        )
    },
    job(
        "dan",
        "Redesign the cart",
        &["src/ui/cart.ts", "src/ui/theme.ts"],
        "New layout of the cart, in the new colors",
        60,
    ),
    Job {
        message: Some(("ada", "I need src/auth.ts, which imports your db.ts. When do you push?")),
        ..job(
            "bob",
            "Hash passwords at login",
            &["src/auth.ts"],
            "Hashing passwords before they are compared",
            45,
        )
    },
    job(
        "cleo",
        "Log slow queries",
        &["src/db.ts"],
        "Logging queries that take over 200 ms",
        45,
    ),
    job(
        "ada",
        "Reserve stock in the order",
        &["src/orders.ts", "src/stock.ts"],
        "An order reserves its items first",
        60,
    ),
    Job {
        dependencies: &["Redesign the cart"],
        ..job(
            "dan",
            "Show the discount in the cart",
            &["src/price.ts", "src/ui/cart.ts"],
            "Prices with the discount beside them",
            60,
        )
    },
    Job {
        dependencies: &["Hash passwords at login"],
        ..job(
            "bob",
            "Log in with a link",
            &["src/mail.ts", "src/ui/login.ts"],
            "Sending a link instead of asking for a password",
            60,
        )
    },
    Job {
        dependencies: &["Log slow queries"],
        ..job(
            "cleo",
            "Find items by part of a word",
            &["src/search.ts"],
            "Searching by trigrams",
            60,
        )
    },
];

/// Options of `coord demo`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct DemoArgs {
    /// The port of the page [default: 3000, or the next free port]
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
}

impl DemoArgs {
    /// Plays until Ctrl-C.
    ///
    /// # Errors
    /// When the repository or its server cannot be created, or the server refuses a request.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let mut signals = Signals::caught();
        let texts = FILES.map(|(path, imports, lines)| (path, module_text(imports, lines)));
        let files: Vec<_> = texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
        let scratch = Scratch::start("shop", &files, self.port).await?;
        let stage = Stage::open(&scratch).await?;
        print(&format!(
            "\nFour agents are at work on a small repository. Watch them:\n\n  {}\n\n{SCENE}\n{}\n\n",
            styled(
                STRONG,
                &format!("{}/?repo_url={}&branch={BRANCH}", scratch.address(), stage.repo_url)
            ),
            styled(
                FAINT,
                "They keep working on their own. Ctrl-C ends the demo and deletes it."
            )
        ))?;
        tokio::select! {
            () = signals.next() => {}
            ended = stage.play() => return ended.map(|()| ExitCode::SUCCESS),
        }
        drop(scratch);
        print("\nThe demo is over. Its server, repository and locks are gone.\n")?;
        Ok(ExitCode::SUCCESS)
    }
}

/// A module with these imports, and `lines` other lines.
fn module_text(imports: &[&str], lines: usize) -> String {
    let imports = imports.iter().enumerate();
    let imports = imports.map(|(number, from)| format!("import * as part{number} from \"{from}\";\n"));
    let steps = (0..lines).map(|step| format!("export const step{step} = (input: string) => `${{input}} {step}`;\n"));
    imports.chain(steps).collect()
}

/// The repository in which the agents work.
struct Stage<'a> {
    scratch: &'a Scratch,
    client: Client,
    repo_url: String,
    /// Only one agent commits at a time.
    commit_lock: Mutex<()>,
}

impl Stage<'_> {
    /// Creates the team, which the agents join.
    async fn open(scratch: &Scratch) -> anyhow::Result<Stage<'_>> {
        let stage = Stage {
            scratch,
            client: scratch.client(REQUEST_TIMEOUT)?,
            repo_url: work_of(scratch, AGENTS[0])?.repo_url(),
            commit_lock: Mutex::default(),
        };
        let caller = |agent: &str| TeamActor {
            repo_url: Some(stage.repo_url.clone()),
            agent_id: Some(agent.to_owned()),
        };
        let team = NewTeamRequest {
            caller: caller(AGENTS[0]),
            name: Some(TEAM.to_owned()),
            ..NewTeamRequest::default()
        };
        stage.client.new_team(&team).await?;
        for agent in &AGENTS[1..] {
            let request = JoinTeamRequest {
                caller: caller(agent),
                ..JoinTeamRequest::default()
            };
            stage.client.join_team(TEAM, &request).await?;
        }
        Ok(stage)
    }

    /// Has the agents do all jobs, round after round.
    async fn play(&self) -> anyhow::Result<()> {
        for round in 1.. {
            let ids = &self.add_tasks().await?;
            let agents = AGENTS.iter().enumerate().map(|(index, agent)| async move {
                sleep(STAGGER * u32::try_from(index).unwrap_or_default()).await;
                for (job, id) in JOBS.iter().zip(ids).filter(|(job, _)| job.agent == *agent) {
                    self.do_job(job, id, round).await?;
                }
                anyhow::Ok(())
            });
            try_join_all(agents).await?;
            for id in ids {
                self.client.delete_task(id, &self.caller(AGENTS[0]), true).await?;
            }
        }
        Ok(())
    }

    /// Adds a task for each job, and returns their ids.
    async fn add_tasks(&self) -> anyhow::Result<Vec<String>> {
        let reference_of = |title: &str| {
            JOBS.iter()
                .position(|job| job.title == title)
                .map(|index| format!("job-{index}"))
        };
        let task = |job: &Job| NewTask {
            title: Some(job.title.to_owned()),
            reference: reference_of(job.title),
            files: Some(job.files.iter().map(|file| (*file).to_owned()).collect()),
            dependencies: Some(
                job.dependencies
                    .iter()
                    .filter_map(|title| reference_of(title))
                    .collect(),
            ),
            ..NewTask::default()
        };
        let request = NewTasksRequest {
            caller: self.caller(AGENTS[0]),
            tasks: Some(JOBS.iter().map(task).collect()),
            ..NewTasksRequest::default()
        };
        Ok(self.client.new_tasks(&request).await?.ids)
    }

    /// Claims the task, and its files as soon as they are free; changes and commits the files, and completes the task.
    async fn do_job(&self, job: &Job, id: &str, round: u32) -> anyhow::Result<()> {
        let claim_task = ClaimTaskRequest {
            caller: self.caller(job.agent),
            lease_seconds: None,
            work: without_file_claims(),
        };
        self.client.claim_task(id, &claim_task).await?;
        if let Some((to, text)) = job.message {
            let message = SendMessageRequest {
                caller: self.caller(job.agent),
                to: Some(vec![to.to_owned()]),
                message: Some(text.to_owned()),
                ..SendMessageRequest::default()
            };
            self.client.send_message(&message).await?;
        }
        let files = || job.files.iter().map(|file| (*file).to_owned()).collect();
        let mut wait_seconds = None;
        loop {
            // Each claim has the current commit: other agents have pushed meanwhile.
            let claim = work_of(self.scratch, job.agent)?.claim(files(), LockMode::Writing, job.reason.to_owned());
            let response = self.client.post_status(&PostRequest { wait_seconds, ..claim }).await?;
            match (response.success, response.orchestration.action) {
                (true, _) => break,
                (false, Action::Wait | Action::Pull) => wait_seconds = Some(WAIT_SECONDS),
                (false, _) => anyhow::bail!("{}: {}", job.agent, response.orchestration.reason),
            }
            // Renews the task's lease while the agent waits.
            self.client.claim_task(id, &claim_task).await?;
        }
        sleep(Duration::from_secs(job.seconds)).await;
        self.commit(job, round).await?;
        let release = work_of(self.scratch, job.agent)?.release(files(), format!("{}: done", job.title));
        let response = self.client.post_status(&release).await?;
        anyhow::ensure!(response.success, "{}: {}", job.agent, response.orchestration.reason);
        let complete = CompleteTaskRequest {
            caller: self.caller(job.agent),
            result: Some(format!("{}: pushed", job.reason)),
            token: None,
            new_repo_head: None,
            work: without_file_claims(),
        };
        self.client.complete_task(id, &complete).await?;
        sleep(REST).await;
        Ok(())
    }

    /// Commits a new last line for each file of the job, in place of the line of the previous round.
    async fn commit(&self, job: &Job, round: u32) -> anyhow::Result<()> {
        let _guard = self.commit_lock.lock().await;
        let changed = |path: &&'static str| {
            let (_, imports, lines) = FILES.iter().find(|(file, ..)| file == path)?;
            let text = module_text(imports, *lines);
            Some((*path, format!("{text}// {}, {round}\n", job.title)))
        };
        let texts: Vec<_> = job.files.iter().filter_map(changed).collect();
        let files: Vec<_> = texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
        self.scratch.commit(&files, job.title).await
    }

    fn caller(&self, agent: &str) -> TeamCaller {
        TeamCaller {
            repo_url: Some(self.repo_url.clone()),
            team: Some(TEAM.to_owned()),
            agent_id: Some(agent.to_owned()),
        }
    }
}

/// Agents claim the files of a task separately, so that the page shows which agent waits for which file.
fn without_file_claims() -> TaskWork {
    TaskWork {
        claim_files: Some(false),
        ..TaskWork::default()
    }
}

fn work_of(scratch: &Scratch, agent: &str) -> anyhow::Result<Work> {
    let mut work = Work::in_folder(scratch.working_copy.root(), &AgentArgs::default())?;
    work.agent_id = Some(AgentId::parse(agent).ok().context("the name of an agent")?);
    Ok(work)
}
