//! Latency on one connection, compared with a constant response and with a bare FCALL, all in turn within one run.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use async_trait::async_trait;
use bytes::Bytes;
use coord_domain::{Branch, CommitSha, FilePath, Holder, LockMode, NeighborPolicy, RepoId, UserId};
use coord_state as state;
use coord_state::admission::AdmissionTerms;
use coord_state::libraries::LIBRARY;
use coord_store::{Request, Store, StoreError, Value};
use futures::stream::BoxStream;

use crate::client::{Connection, Post, Subject};
use crate::process::{self, Process, State};
use crate::redis_link::{RedisLink, encode};
use crate::report::{Latencies, Table, progress};
use crate::repository::file;
use crate::stdio::CoordMcp;

/// The requested file: it has five neighbors in every measured repository.
const FILE: usize = 40;

/// Claims ten locks of others that are not next to the file, so that its neighbors are looked up.
pub async fn hold_some(server: &Process, subject: &Subject) -> Result<()> {
    let mut connection = Connection::open(server.address).await?;
    for number in 0..10 {
        connection
            .must(&subject.claim(&format!("holder-{number}"), &[file(50 + 2 * number)], "READING"))
            .await?;
    }
    Ok(())
}

/// One measured operation.
pub enum Probe {
    Http(Connection, Vec<Post>),
    Redis(RedisLink, Vec<u8>),
    Stdio(Box<CoordMcp>, Vec<String>),
}

impl Probe {
    async fn run(&mut self, round: usize) -> Result<Duration> {
        let started = Instant::now();
        match self {
            Probe::Http(connection, posts) => {
                let (status, _) = connection.post(&posts[round % posts.len()]).await?;
                anyhow::ensure!(status.is_success(), "answered {status}");
            }
            Probe::Redis(link, command) => drop(link.ask_encoded(command).await?),
            Probe::Stdio(agent, lines) => {
                let said = agent.ask(&lines[round % lines.len()]).await?;
                anyhow::ensure!(said.contains("PROCEED"), "coord mcp said {said}");
            }
        }
        Ok(started.elapsed())
    }
}

/// Measures all of `probes` in turn for `time`.
pub async fn in_turn(probes: &mut [(String, Probe)], time: Duration) -> Result<Vec<Latencies>> {
    let mut latencies: Vec<Latencies> = probes.iter().map(|_| Latencies::default()).collect();
    let warm = Instant::now() + time / 5;
    let mut round = 0;
    while Instant::now() < warm || round % 2 == 1 {
        for (_, probe) in probes.iter_mut() {
            probe.run(round).await?;
        }
        round += 1;
    }
    let end = Instant::now() + time * u32::try_from(probes.len())?;
    while Instant::now() < end || round % 2 == 1 {
        for ((_, probe), latencies) in probes.iter_mut().zip(&mut latencies) {
            latencies.add(probe.run(round).await?);
        }
        round += 1;
    }
    Ok(latencies)
}

/// Records requests, and returns no result.
#[derive(Default)]
pub struct Recorder(Mutex<Vec<Request>>);

impl Recorder {
    /// What was recorded.
    pub fn requests(self) -> Vec<Request> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Store for Recorder {
    async fn run(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(batch);
        Err(StoreError::Unreachable("nothing is behind this".to_owned()))
    }

    async fn subscribe(&self, _: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
        Err(StoreError::Unreachable("nothing is behind this".to_owned()))
    }

    fn describe(&self) -> String {
        "a recorder".to_owned()
    }
}

/// The command that `check_status` sends to Redis.
pub async fn bare_check(subject: &Subject) -> Result<Vec<u8>> {
    let repo = RepoId::parse(&subject.repo_url).context("the repository")?;
    let branch = Branch::parse("main").context("the branch")?;
    let head = CommitSha::parse(&subject.head).context("the head")?;
    let holder = Holder {
        user_id: UserId::parse("ann").context("the user")?,
        user_name: "ann".to_owned(),
        agent_id: None,
    };
    let known = [head.clone()];
    let entry = AdmissionTerms::of(&repo, &branch, &holder, Some(&head), &known);
    let paths = [FilePath::parse(&file(FILE)).context("the file")?];
    let recorder = Recorder::default();
    // Only the recorded request is wanted, not the result.
    let policy = &state::locks::PolicyTerms::of(NeighborPolicy::Block);
    let gate = &state::locks::GateTerms::NONE;
    let _ = state::locks::check_status(&recorder, &entry, &paths, LockMode::Writing, policy, gate).await;
    let asked = recorder.requests();
    let [Request::Script { script, keys, args }] = asked.as_slice() else {
        bail!("check_status is not one script");
    };
    let count = keys.len().to_string();
    let function = LIBRARY.function("", script);
    let mut words: Vec<&[u8]> = vec![b"FCALL", function.as_bytes(), count.as_bytes()];
    words.extend(keys.iter().map(String::as_bytes));
    words.extend(args.iter().map(Vec::as_slice));
    Ok(encode(&words))
}

/// A repository on disk, and the subject of its requests.
pub type Repository<'a> = (&'a Path, &'a Subject);

pub async fn measure(
    small: Repository<'_>,
    large: Repository<'_>,
    scratch: &Path,
    redis: bool,
    time: Duration,
) -> Result<()> {
    let table = Table::begin(
        "Latency, one connection",
        "All rows of one store are measured in turn, in one run. `post_status` is a claim and a release by turns. \
         The bound is constant + FCALL of the same function + 100 us.",
        &["store", "what", "p50 us", "p99 us", "n"],
    );
    for is_redis in [true, false] {
        if is_redis && !redis {
            continue;
        }
        let store = if is_redis { "redis-server" } else { "embedded" };
        progress(&format!("measuring latency on {store}"));
        let constant = process::constant().await?;
        let (_, any) = small;
        let files = [file(FILE)];
        let http = async |server: &Process, posts: Vec<Post>| {
            anyhow::Ok(Probe::Http(Connection::open(server.address).await?, posts))
        };
        let mut probes = vec![(
            "constant".to_owned(),
            http(&constant, vec![any.check("ann", &files)]).await?,
        )];
        let mut kept = Vec::new();
        for (name, (repository, subject)) in [("100 files", small), ("many files", large)] {
            let folder = tempfile::tempdir_in(scratch)?;
            let database = if is_redis {
                process::redis(folder.path()).await?
            } else {
                None
            };
            let state = match &database {
                Some(database) => State::Redis(database.address),
                None => State::Embedded(folder.path()),
            };
            let server = process::coord(repository, state, None).await?;
            process::graph_is_ready(&server, &subject.repo_url).await?;
            hold_some(&server, subject).await?;
            let posts = vec![subject.claim("ann", &files, "WRITING"), subject.abandon("ann", &files)];
            probes.push((
                format!("check_status, {name}"),
                http(&server, vec![subject.check("ann", &files)]).await?,
            ));
            probes.push((format!("post_status, {name}"), http(&server, posts).await?));
            if let Some(database) = &database {
                // The first check makes the server load the library.
                Connection::open(server.address)
                    .await?
                    .must(&subject.check("ann", &files))
                    .await?;
                let mut link = RedisLink::open(database.address).await?;
                let sha = link.ask(&["SCRIPT", "LOAD", "return 1"]).await?.concat();
                probes.push((
                    format!("FCALL of check_status, {name}"),
                    Probe::Redis(link, bare_check(subject).await?),
                ));
                let link = RedisLink::open(database.address).await?;
                probes.push((
                    format!("EVALSHA of `return 1`, {name}"),
                    Probe::Redis(link, encode(&[b"EVALSHA", sha.as_bytes(), b"0"])),
                ));
            }
            kept.push((server, database, folder));
        }
        let latencies = in_turn(&mut probes, time).await?;
        let micros = |wanted: &str, quantile| {
            let place = probes.iter().position(|(name, _)| name == wanted);
            place.map_or(f64::NAN, |place| latencies[place].micros(quantile))
        };
        for ((name, _), latencies) in probes.iter().zip(&latencies) {
            let cells = [0.5, 0.99].map(|quantile| format!("{:.0}", latencies.micros(quantile)));
            table.row(&[&store, name, &cells[0], &cells[1], &latencies.count()]);
        }
        for question in ["check_status", "post_status"] {
            let ratio =
                micros(&format!("{question}, many files"), 0.5) / micros(&format!("{question}, 100 files"), 0.5);
            table.row(&[
                &store,
                &format!("**{question}, many files : 100 files**"),
                &format!("**{ratio:.2}**"),
                &"",
                &"",
            ]);
        }
        if is_redis {
            for quantile in [0.5, 0.99] {
                let over = micros("check_status, 100 files", quantile)
                    - micros("constant", quantile)
                    - micros("FCALL of check_status, 100 files", quantile);
                let what = format!("**check_status over constant + FCALL, at quantile {quantile}**");
                table.row(&[&store, &what, &format!("**{over:.0}**"), &"", &""]);
            }
        }
    }
    Ok(())
}
