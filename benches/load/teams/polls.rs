//! Agents that wait for messages: the time from sent to answered, that each gets each message once and in order, and the memory of
//! the server.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::member::{Member, Plan};
use crate::client::Subject;
use crate::report::{Latencies, machine_load, progress, row, table};
use crate::servers::Servers;

/// Agents of one login; the server lets 128 requests of a person wait.
const OF_USER: usize = 100;
/// Agents of one team, which has at most 1,000 members.
const OF_TEAM: usize = 500;

/// State that all agents share.
#[derive(Default)]
struct Shared {
    /// Of each agent: the numbers of its messages in the order of their sending, and when each was sent.
    sent: RefCell<Vec<Vec<(u64, Instant)>>>,
    latencies: RefCell<Latencies>,
    received: Cell<usize>,
    wrong: Cell<usize>,
    polls: Cell<usize>,
    is_stopped: Cell<bool>,
}

/// Waits for messages until it is told to stop, and holds what comes against what was sent.
async fn waits(mut member: Member, number: usize, shared: Rc<Shared>) -> Result<()> {
    let (mut cursor, mut place) = (0, 0);
    while !shared.is_stopped.get() {
        let inbox = member.reads(cursor, 20).await?;
        let now = Instant::now();
        shared.polls.set(shared.polls.get() + 1);
        for message in inbox["messages"].as_array().context("messages")? {
            // The answer may be here before that of the sender: the text has the number, which is noted before it is sent.
            let text = message["message"].as_str().and_then(|text| text.parse::<u64>().ok());
            let sent = shared.sent.borrow()[number].get(place).copied();
            match sent {
                Some((expected, at)) if Some(expected) == text => {
                    shared.latencies.borrow_mut().add(now - at);
                    shared.received.set(shared.received.get() + 1);
                }
                _ => shared.wrong.set(shared.wrong.get() + 1),
            }
            place += 1;
        }
        cursor = inbox["cursor"].as_u64().context("a cursor")?;
    }
    Ok(())
}

pub async fn measure(servers: &Servers, subject: &Subject, store: &str, plan: Plan) -> Result<()> {
    progress(&format!("measuring {} agents that wait on {store}", plan.agents));
    let load = machine_load();
    let mut leads = Vec::new();
    for number in 0..plan.agents.div_ceil(OF_TEAM) {
        leads.push(Member::leads(&servers.coord, subject, &format!("polls{number}")).await?);
    }
    let names = |number| {
        let user = format!("user-{}", number / OF_USER);
        (user, format!("a{number}"), format!("polls{}", number / OF_TEAM))
    };
    for number in 0..plan.agents {
        let (user, agent, team) = names(number);
        Member::joins(&servers.coord, subject, &user, &agent, &team).await?;
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (without, _) = servers.coord.memory()?;
    let mut members = Vec::new();
    for number in 0..plan.agents {
        let (user, agent, team) = names(number);
        members.push(Member::new(&servers.coord, subject, &user, &agent, &team).await?);
    }
    let shared = Rc::new(Shared {
        sent: RefCell::new(vec![Vec::new(); plan.agents]),
        ..Shared::default()
    });
    let tasks = tokio::task::LocalSet::new();
    let done = tasks.run_until(async {
        let waiting: Vec<_> = members
            .into_iter()
            .enumerate()
            .map(|(number, member)| tokio::task::spawn_local(waits(member, number, Rc::clone(&shared))))
            .collect();
        tokio::time::sleep(Duration::from_secs(3)).await;
        for lead in &mut leads {
            lead.reconnects().await?;
        }
        let (with, _) = servers.coord.memory()?;
        let before = servers.coord.processor_time()?;
        let began = Instant::now();
        let pause = Duration::from_secs_f64(1.0 / plan.rate);
        let mut count = 0_u32;
        while began.elapsed() < plan.time {
            let to = fastrand::usize(..plan.agents);
            shared.sent.borrow_mut()[to].push((u64::from(count), Instant::now()));
            leads[to / OF_TEAM].sends(&format!("a{to}"), &count.to_string()).await?;
            count += 1;
            tokio::time::sleep_until((began + pause * count).into()).await;
        }
        let seconds = began.elapsed().as_secs_f64();
        // Waits for requests that are still in flight.
        tokio::time::sleep(Duration::from_secs(2)).await;
        let spent = servers.coord.processor_time()? - before;
        shared.is_stopped.set(true);
        for agent in waiting {
            if agent.is_finished() {
                agent.await??;
            } else {
                agent.abort();
            }
        }
        anyhow::Ok((with, count, seconds, spent))
    });
    let (with, count, seconds, spent) = done.await?;
    table(
        &format!("Teams: {} agents in long polls on {store}", plan.agents),
        &format!(
            "The time is from before a message is sent to the answer of the poll of its reader, both in the driver, which has one \
             thread. Load of the machine before: {load}."
        ),
        "messages | messages/s | received | p50 ms | p99 ms | max ms | lost | repeated or out of order | polls answered | KiB an agent | server's processor us a message",
    );
    let lost = (count as usize).saturating_sub(shared.received.get());
    let latencies = shared.latencies.borrow();
    let [half, most_all, longest] = [0.5, 0.99, 1.0].map(|quantile| latencies.micros(quantile) / 1000.0);
    row(format_args!(
        "{count} | {:.1} | {} | {half:.1} | {most_all:.1} | {longest:.1} | {lost} | {} | {} | {:.1} | {:.0}",
        f64::from(count) / seconds,
        shared.received.get(),
        shared.wrong.get(),
        shared.polls.get(),
        with.saturating_sub(without) as f64 / plan.agents as f64,
        spent.as_secs_f64() * 1e6 / f64::from(count),
    ));
    ensure!(lost == 0, "{lost} messages did not arrive");
    ensure!(shared.wrong.get() == 0, "messages came twice, or out of order");
    Ok(())
}
