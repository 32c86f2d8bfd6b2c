//! Everything but the moment before a tool: the session's locks are looked after, and the agent is told who works on what. No failure
//! stops an agent here; it is told in one line.

use std::path::PathBuf;

use coord::domain::AgentId;

use crate::agent::connection::Connection;
use crate::agent::session_notes::SessionNotes;
use crate::agent::work::Work;

use super::caller::{Caller, SHORT_LIMIT, find};
use super::event::{Decision, Moment, Tool};
use super::give_back::{Extent, give_back, head_has_moved};
use super::{context, heard, reason, renewal, shell};

/// What the event asks for.
pub(super) async fn run(caller: &Caller<'_>) -> Decision {
    let pushed_from = pushed_from(caller);
    let found = pushed_from.as_deref().map_or_else(|| caller.working_copy(), find);
    let Some(working_copy) = found else {
        return Decision::PROCEED;
    };
    heard::note(&working_copy, caller.agent, caller.event);
    let work = match caller.work(working_copy) {
        Ok(work) => work,
        Err(error) => return failed(&error),
    };
    let Some(holder) = work.agent_id.clone() else {
        return Decision::PROCEED;
    };
    let task = caller.call.prompt.as_deref().and_then(reason::first_sentence);
    if matches!(caller.call.moment, Moment::SessionStart | Moment::Prompt) {
        SessionNotes::change(&work.working_copy, &holder, |notes| {
            notes.add_worktree(work.working_copy.root());
            notes.task = task.or(notes.task.take());
        });
    }
    match with_server(caller, &work, &holder, pushed_from.is_some()).await {
        Ok(decision) => decision,
        Err(error) => failed(&error),
    }
}

fn failed(error: &anyhow::Error) -> Decision {
    Decision::Proceed {
        context: None,
        note: Some(format!("Coord: {error:#}")),
    }
}

async fn with_server(caller: &Caller<'_>, work: &Work, holder: &AgentId, has_pushed: bool) -> anyhow::Result<Decision> {
    let moment = caller.call.moment;
    let place = &work.working_copy;
    let connection = match moment {
        // The first edit should not have to wait for the server.
        Moment::SessionStart => Some(Connection::open(caller.args, place, Some(holder), SHORT_LIMIT)?),
        _ => Connection::open_running(caller.args, place, Some(holder), SHORT_LIMIT)?,
    };
    // Where no server runs, nobody holds anything.
    let Some(connection) = connection else {
        return Ok(Decision::PROCEED);
    };
    if moment != Moment::SessionEnd {
        renewal::renew_if_due(&connection.client, work, holder).await;
    }
    let extent = match moment {
        Moment::TurnEnd | Moment::SessionEnd => Some(Extent::Finished),
        _ if has_pushed || head_has_moved(work, holder) => Some(Extent::Pushed),
        _ => None,
    };
    let outcome = match extent {
        Some(extent) => Some(give_back(caller.args, &connection, work, holder, extent).await?),
        None => None,
    };
    let told = match (&outcome, moment) {
        (Some(outcome), Moment::TurnEnd | Moment::SessionEnd) => {
            return Ok(Decision::Proceed {
                context: None,
                note: outcome.text(),
            });
        }
        (Some(outcome), _) => outcome.released_text(),
        (None, _) => None,
    };
    if !caller.agent.takes_context(caller.event) {
        return Ok(Decision::PROCEED);
    }
    let others = match moment {
        Moment::SessionStart | Moment::Prompt => context::of_others(&connection, work).await?,
        _ => None,
    };
    let context = [told, others].into_iter().flatten().collect::<Vec<_>>().join("\n");
    Ok(Decision::Proceed {
        context: Some(context).filter(|context| !context.is_empty()),
        note: None,
    })
}

/// The folder that a shell command has pushed from.
fn pushed_from(caller: &Caller<'_>) -> Option<PathBuf> {
    match &caller.call.tool {
        Tool::Shell { command, folder } if command.contains("push") => {
            let of_command = folder.as_ref().map(|folder| caller.folder().join(folder));
            let folder = of_command.unwrap_or_else(|| caller.folder());
            shell::effects(command, &folder).pushes.into_iter().next()
        }
        _ => None,
    }
}
