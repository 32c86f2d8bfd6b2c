//! Requests of a team beside `post_status`, in turn, on one connection and on sixteen.

use std::cell::Cell;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::member::Member;
use crate::client::{Connection, Subject};
use crate::report::{progress, row, table};
use crate::repository::file;
use crate::servers::Servers;

const MANY: usize = 16;

/// Tasks that are ready before a measurement of a second, the most before any, and during it: a worker adds as many as one
/// request may where fewer are left.
const TASKS_OF_SECOND: f64 = 4500.0;
const MAX_TASKS: usize = 15_000;
const LEAST_TASKS: usize = 20 * MANY;
const NEW_TASKS: usize = 200;

/// The operations to measure, and how many requests each counts for.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A claim and a release of a file.
    PostStatus,
    /// Claims a task and releases it.
    Claim,
    /// The next task, and its completion.
    Next,
    /// A message, which is read now and then: an inbox takes 1,000.
    Send,
    /// A message is read.
    Read,
}

impl Kind {
    const ALL: [Kind; 5] = [Kind::PostStatus, Kind::Claim, Kind::Next, Kind::Send, Kind::Read];

    fn name(self) -> &'static str {
        match self {
            Kind::PostStatus => "`post_status`: a claim and a release",
            Kind::Claim => "a task claimed and given back",
            Kind::Next => "the next task, and its completion",
            Kind::Send => "a message to a member",
            Kind::Read => "a read of 20 new messages",
        }
    }
}

/// One of those that work at once.
struct Worker {
    member: Member,
    files: Connection,
    subject: Subject,
    number: usize,
    task: String,
    cursor: u64,
    unread: u64,
}

impl Worker {
    async fn new(servers: &Servers, subject: &Subject, number: usize) -> Result<Worker> {
        let name = format!("w{number}");
        let mut member = Member::joins(&servers.coord, subject, &name, &name, "rates").await?;
        // Its own from here on, where claims are not what is measured.
        let task = member.next().await?;
        Ok(Worker {
            member,
            files: Connection::open(servers.coord.address).await?,
            subject: subject.clone(),
            number,
            task,
            cursor: 0,
            unread: 0,
        })
    }

    /// Works for `time`; returns the number of requests, and the time that they have taken.
    /// `left`: how many tasks are ready.
    async fn works(&mut self, kind: Kind, time: Duration, left: &Cell<usize>) -> Result<(u64, Duration)> {
        self.member.reconnects().await?;
        self.files = Connection::open(self.member.address).await?;
        let (began, mut requests, mut taken) = (Instant::now(), 0, Duration::ZERO);
        while began.elapsed() < time {
            if kind == Kind::Next {
                if left.get() < LEAST_TASKS {
                    left.set(left.get() + NEW_TASKS);
                    self.member.adds(NEW_TASKS).await?;
                }
                left.set(left.get() - 1);
            }
            if kind == Kind::Read {
                for _ in 0..20 {
                    let handle = self.member.agent.clone();
                    self.member.sends(&handle, "A word of the measurement").await?;
                }
            }
            if kind == Kind::Send && self.unread > 900 {
                self.read().await?;
            }
            let started = Instant::now();
            requests += self.works_once(kind).await?;
            taken += started.elapsed();
        }
        self.read().await?;
        Ok((requests, taken))
    }

    async fn read(&mut self) -> Result<()> {
        loop {
            let read = self.member.reads(self.cursor, 0).await?;
            self.cursor = read["cursor"].as_u64().context("a cursor")?;
            if read["messages"].as_array().is_some_and(Vec::is_empty) {
                self.unread = 0;
                return Ok(());
            }
        }
    }

    async fn works_once(&mut self, kind: Kind) -> Result<u64> {
        match kind {
            Kind::PostStatus => {
                // Files that do not import each other.
                let files = [file(2 + 6 * self.number)];
                let user = format!("w{}", self.number);
                for post in [
                    self.subject.claim(&user, &files, "READING"),
                    self.subject.abandon(&user, &files),
                ] {
                    self.files.must(&post).await?;
                }
                Ok(2)
            }
            Kind::Claim => {
                self.member.does(&self.task, "claim").await?;
                self.member.does(&self.task, "release").await?;
                Ok(2)
            }
            Kind::Next => {
                let id = self.member.next().await?;
                self.member.does(&id, "complete").await?;
                Ok(2)
            }
            Kind::Send => {
                let handle = self.member.agent.clone();
                self.member.sends(&handle, "A word of the measurement").await?;
                self.unread += 1;
                Ok(1)
            }
            Kind::Read => {
                let read = self.member.reads(self.cursor, 0).await?;
                ensure!(read["messages"].as_array().is_some_and(|all| all.len() == 20), "{read}");
                self.cursor = read["cursor"].as_u64().context("a cursor")?;
                Ok(1)
            }
        }
    }
}

pub async fn measure(servers: &Servers, subject: &Subject, store: &str, time: Duration) -> Result<()> {
    progress(&format!("measuring requests of teams on {store}"));
    table(
        &format!("Teams: requests a second on {store}"),
        "All kinds are measured in turn, three times; what a kind needs is done before, and is not in the time. The ratio is to \
         `post_status` on as many connections.",
        "request | connections | requests/s | ratio",
    );
    let mut lead = Member::leads(&servers.coord, subject, "rates").await?;
    lead.adds(MANY).await?;
    let mut workers = Vec::new();
    for number in 0..MANY {
        workers.push(Worker::new(servers, subject, number).await?);
    }
    let wanted = MAX_TASKS.min((time.as_secs_f64() / 3.0 * TASKS_OF_SECOND) as usize);
    let left = Cell::new(0);
    for connections in [1, MANY] {
        let mut sums = Kind::ALL.map(|kind| (kind, 0, Duration::ZERO));
        for round in 0..4 {
            for (kind, requests, taken) in &mut sums {
                if *kind == Kind::Next && left.get() < wanted {
                    lead.reconnects().await?;
                    lead.adds(wanted - left.get()).await?;
                    left.set(wanted);
                }
                let work = workers[..connections]
                    .iter_mut()
                    .map(|worker| worker.works(*kind, time / 3, &left));
                let done = futures::future::try_join_all(work).await?;
                // Those of one kind that wait for their turns hold their own tasks again.
                if *kind == Kind::Claim {
                    for worker in &mut workers[..connections] {
                        let id = worker.task.clone();
                        worker.member.does(&id, "claim").await?;
                    }
                }
                // The first round warms up.
                if round > 0 {
                    *requests += done.iter().map(|(requests, _)| requests).sum::<u64>();
                    *taken += done.iter().map(|(_, taken)| *taken).sum::<Duration>();
                }
            }
        }
        let rate = |(_, requests, taken): &(Kind, u64, Duration)| {
            *requests as f64 / (taken.as_secs_f64() / connections as f64)
        };
        let of_posts = rate(&sums[0]);
        for sum in &sums {
            let (name, rate) = (sum.0.name(), rate(sum));
            row(format_args!(
                "{name} | {connections} | {rate:.0} | {:.2}",
                rate / of_posts
            ));
        }
    }
    Ok(())
}
