//! Tickets of claims that were refused for others' locks: `queue.lua`.

mod ageing;
mod bounds;
mod neighbors;
mod places;
mod reservations;
mod withdrawn;

use coord_domain::LockMode;
use coord_state as state;
use coord_state::locks::{QueuePosition, Survey};
use coord_store::Value;
use serde_json::Value as Json;

use crate::world::{Agent, World, in_short};

/// The tickets that are stored.
async fn tickets(world: &World) -> Vec<Json> {
    match world.command(["GET", &state::locks::keys::queue(&world.repo)]).await {
        Value::Bulk(json) => serde_json::from_slice(&json).unwrap(),
        _ => Vec::new(),
    }
}

/// Lets so many seconds pass for all tickets.
async fn pass(world: &World, seconds: i64) {
    let mut tickets = tickets(world).await;
    for ticket in &mut tickets {
        for name in ["since", "asked", "held", "overtaken", "reserved"] {
            if let Some(time) = ticket[name].as_i64() {
                ticket[name] = (time - 1000 * seconds).into();
            }
        }
    }
    let text = Json::from(tickets).to_string();
    world
        .command(["SET", &state::locks::keys::queue(&world.repo), &text, "PX", "60000"])
        .await;
}

/// Holders of the tickets, in their order; `!` behind one with a reservation.
async fn row(world: &World) -> Vec<String> {
    let name = |ticket: &Json| {
        let sign = if ticket["reserved"].is_i64() { "!" } else { "" };
        format!("{}{sign}", ticket["user_id"].as_str().unwrap())
    };
    tickets(world).await.iter().map(name).collect()
}

fn place(survey: &Survey) -> &QueuePosition {
    survey.queued.as_ref().expect("a ticket")
}

/// Refused, with a place in the queue: its number, and what blocks.
async fn waits(agent: &Agent<'_>, mode: LockMode, paths: &[&str]) -> (u64, Vec<String>) {
    let survey = agent.is_refused(mode, paths).await;
    (place(&survey).position, in_short(&survey.findings))
}

/// The same in short: `2: DIRECT! a.ts ann, RESERVED! b.ts bob`.
async fn queued(agent: &Agent<'_>, mode: LockMode, paths: &[&str]) -> String {
    let (position, blocking) = waits(agent, mode, paths).await;
    format!("{position}: {}", blocking.join(", "))
}
