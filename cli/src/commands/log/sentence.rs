//! An event as a sentence, for people.

use anstyle::Style;
use coord_agent::terminal::locks::holder;
use coord_agent::terminal::output::{BAD, CAUTION, FAINT, GOOD, STRONG, short, styled};
use coord_agent::terminal::times::clock;
use coord_agent::terminal::wrap::wrap;
use coord_protocol::event::{LockChange, LockRefusal, LockReservation, LocksEnded, RefusalReason};
use coord_protocol::intent_event::IntentChange;
use coord_protocol::plain_text::quoted_line;
use coord_protocol::team_event::{ShutdownState, TaskChange, TasksCreated, TeamChangeKind};
use coord_protocol::{ErrorCode, Event, IntentStatus, LockMode, LockStatus};

/// Most files that a sentence names.
const MOST_NAMED: usize = 3;

/// Columns between the time and the sentence.
const GAP: usize = 2;

/// Least columns for a sentence, however narrow the terminal is.
const LEAST: usize = 30;

/// The time and what happened, in lines of at most `width` columns, the later ones below what happened.
pub(super) fn event_lines(event: &Event, now: i64, width: Option<usize>) -> String {
    let (time, sentence) = of_event(event);
    let time = clock(time, now);
    let indent = time.len() + GAP;
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(indent).max(LEAST));
    let sentence = wrap(&sentence, room).join(&format!("\n{:indent$}", ""));
    format!("{}{:GAP$}{sentence}", styled(FAINT, &time), "")
}

fn of_event(event: &Event) -> (i64, String) {
    match event {
        Event::LockGranted(change) => (change.time, of_change(change, GOOD, "claims", "")),
        Event::LockRenewed(change) => (change.time, of_change(change, FAINT, "renews", "")),
        Event::LockReleased(ended) => of_ended(ended, "releases", "are released"),
        Event::LockExpired(ended) => of_ended(ended, "loses", "expire"),
        Event::LockRefused(refusal) => (refusal.time, of_refusal(refusal)),
        Event::LockReserved(reservation) => (reservation.time, of_reservation(reservation)),
        Event::HeadMoved(moved) => {
            let head = styled(STRONG, short(&moved.head));
            (moved.time, format!("{} is at {head}", moved.branch))
        }
        Event::GraphUpdate(update) => {
            let sentence = format!(
                "the import graph of {} is that of {}",
                update.branch,
                short(&update.version)
            );
            (update.time, styled(FAINT, &sentence))
        }
        Event::TaskCreated(_)
        | Event::TaskUpdated(_)
        | Event::TaskClaimed(_)
        | Event::TaskCompleted(_)
        | Event::TaskReleased(_)
        | Event::TaskLapsed(_)
        | Event::TaskDeleted(_)
        | Event::TaskUnblocked(_)
        | Event::MessageSent(_)
        | Event::TeamChanged(_)
        | Event::ShutdownChanged(_) => of_team(event),
        Event::GraphProgress(progress) => {
            let (scanned, wanted) = (progress.scanned, progress.wanted);
            let sentence = format!(
                "the import graph of {}: {scanned} of {wanted} files are read",
                progress.branch
            );
            (progress.time, styled(FAINT, &sentence))
        }
        Event::IntentChanged(change) => (change.time, of_intent(change)),
        Event::IntentOverlapAllowed(allowed) => {
            let who = who(&allowed.user, None);
            let verb = styled(CAUTION, "lets");
            (
                allowed.time,
                format!(
                    "{who} {verb} intents {} and {} overlap",
                    allowed.intent_id, allowed.other
                ),
            )
        }
        Event::FileTakenOver(taken) => {
            let who = who(&taken.user, None);
            let verb = styled(CAUTION, "takes over");
            let files = files(taken.files.as_deref(), taken.file_count);
            (
                taken.time,
                format!("{who} {verb} {files} for intent {}", taken.intent_id),
            )
        }
        Event::InterfaceChanged(changed) => {
            let who = who(&changed.user, changed.agent_id.as_deref());
            let verb = styled(CAUTION, "changed the interface");
            let names = changed
                .names
                .as_deref()
                .map(|names| format!(": {}", quoted_line(&names.join(", "))));
            let names = names.unwrap_or_default();
            let files = files(changed.files.as_deref(), changed.file_count);
            (
                changed.time,
                format!("{who} {verb} of {files}, which was to be kept{names}"),
            )
        }
        Event::LedgerTrimmed(trimmed) => {
            let (lines, base) = (trimmed.lines, &trimmed.base);
            let sentence = format!("the {lines} oldest lines of the ledger are gone, up to {base}");
            (trimmed.time, styled(FAINT, &sentence))
        }
    }
}

/// An event of a team.
fn of_team(event: &Event) -> (i64, String) {
    let who = |handle: &Option<String>| styled(STRONG, handle.as_deref().unwrap_or("nobody"));
    let login = |user: &Option<String>| user.as_ref().map(|user| format!(" ({user})")).unwrap_or_default();
    let of_task = |change: &TaskChange, verb: &str| {
        let TaskChange { team, task, title, .. } = change;
        (
            change.time,
            format!(
                "{}{} {verb} {task} of {team}: {}",
                who(&change.handle),
                login(&change.user),
                quoted_line(title)
            ),
        )
    };
    match event {
        Event::TaskCreated(created) => {
            let TasksCreated { team, tasks, .. } = created;
            let handle = styled(STRONG, &created.handle);
            let (first, count) = (tasks.first().map_or("", String::as_str), created.task_count);
            let more = if count > 1 {
                format!(" and {} more", count - 1)
            } else {
                String::new()
            };
            (created.time, format!("{handle} adds {first}{more} to {team}"))
        }
        Event::TaskUpdated(change) => of_task(change, "changes"),
        Event::TaskClaimed(change) => of_task(change, &styled(GOOD, "claims")),
        Event::TaskCompleted(change) => of_task(change, &styled(GOOD, "completes")),
        Event::TaskReleased(change) => of_task(change, "releases"),
        Event::TaskLapsed(change) => of_task(change, &styled(CAUTION, "loses")),
        Event::TaskDeleted(change) => of_task(change, "deletes"),
        Event::TaskUnblocked(unblocked) => {
            let sentence = format!(
                "{} of {} depend on {} no more",
                unblocked.task_count, unblocked.team, unblocked.task
            );
            (unblocked.time, styled(FAINT, &sentence))
        }
        Event::MessageSent(sent) => {
            let from = sent.from.as_deref().unwrap_or("Coord");
            (
                sent.time,
                format!("{} writes to {} of {}", styled(STRONG, from), sent.to, sent.team),
            )
        }
        Event::TeamChanged(change) => {
            let verb = match change.change {
                TeamChangeKind::Created => "creates",
                TeamChangeKind::Joined => "joins",
                TeamChangeKind::TakenOver => "comes back to",
                TeamChangeKind::Left => "leaves",
                TeamChangeKind::HandedOver => "leads",
                TeamChangeKind::Closed => "closes",
                TeamChangeKind::Deleted => "deletes",
            };
            (
                change.time,
                format!("{} {verb} {}", styled(STRONG, &change.handle), change.team),
            )
        }
        Event::ShutdownChanged(change) => {
            let target = change.target.as_deref().unwrap_or(&change.team);
            let verb = match change.state {
                ShutdownState::Requested => "asks for",
                ShutdownState::Approved => "approves",
                ShutdownState::RejectedBy | ShutdownState::Rejected => "rejects",
                ShutdownState::Forced => "forces",
                ShutdownState::Closed => "ends",
            };
            let handle = styled(STRONG, &change.handle);
            (change.time, format!("{handle} {verb} the shutdown of {target}"))
        }
        _ => (0, String::new()),
    }
}

fn of_change(change: &LockChange, style: Style, verb: &str, why: &str) -> String {
    let mode = match change.status {
        LockMode::Writing => "",
        LockMode::Reading => " for reading",
    };
    let files = files(change.files.as_deref(), change.file_count);
    let LockChange { branch, message, .. } = change;
    let verb = styled(style, verb);
    let who = who(&change.user, change.agent_id.as_deref());
    format!("{who} {verb} {files} on {branch}{mode}{why}: {}", quoted_line(message))
}

fn of_ended(ended: &LocksEnded, verb: &str, of_many: &str) -> (i64, String) {
    let (style, why) = if verb == "loses" {
        (CAUTION, ", which expired")
    } else {
        (GOOD, "")
    };
    match ended {
        LocksEnded::OfClaim(change) if change.forced_by.is_some() => {
            let by = change.forced_by.as_deref().unwrap_or_default();
            (
                change.time,
                of_change(change, CAUTION, "loses", &format!(", force-released by {by}")),
            )
        }
        LocksEnded::OfClaim(change) => {
            let why = if change.is_pushed == Some(true) {
                ", pushed"
            } else {
                why
            };
            (change.time, of_change(change, style, verb, why))
        }
        LocksEnded::OfMany(many) => {
            let files = files(many.files.as_deref(), many.file_count);
            (many.time, format!("the locks on {files} {}", styled(style, of_many)))
        }
    }
}

fn of_reservation(reservation: &LockReservation) -> String {
    let files = files(reservation.files.as_deref(), reservation.file_count);
    let who = who(&reservation.user, reservation.agent_id.as_deref());
    format!(
        "{who} has {files} on {} {}",
        reservation.branch,
        styled(GOOD, "reserved")
    )
}

fn of_refusal(refusal: &LockRefusal) -> String {
    let wanted = files(refusal.files.as_deref(), refusal.file_count);
    let conflicts = files(refusal.conflicts.as_deref(), refusal.conflict_count.unwrap_or_default());
    let why = match refusal.reason {
        RefusalReason::Stale => "the working copy is behind".to_owned(),
        RefusalReason::Conflict if refusal.conflicts.as_ref() == refusal.files.as_ref() => {
            "someone else holds it".to_owned()
        }
        RefusalReason::Conflict => format!("someone else holds {conflicts}"),
        RefusalReason::Full => "the repository has too many locks".to_owned(),
        RefusalReason::NotPushed => "the change is not pushed".to_owned(),
        RefusalReason::Lost => "someone else holds the lock now".to_owned(),
        RefusalReason::Intent => match refusal.code {
            Some(ErrorCode::FileOwned) => format!("{conflicts} is owned by another intent"),
            Some(ErrorCode::ScopeViolation) => format!("{conflicts} is outside of the intent's scope"),
            Some(ErrorCode::IntentRequired) => "no intent is cited".to_owned(),
            Some(ErrorCode::IntentNotActive) => "the intent is not active".to_owned(),
            Some(ErrorCode::IntentBlocked) => "the intent is blocked".to_owned(),
            Some(ErrorCode::BudgetExhausted) => "the intent's budget is spent".to_owned(),
            Some(ErrorCode::CircuitOpen) => "the same call was made too often".to_owned(),
            _ => "an intent does not allow it".to_owned(),
        },
    };
    let verb = match refusal.status {
        LockStatus::Open => "may not release",
        LockStatus::Reading | LockStatus::Writing => "was refused",
    };
    let again = match refusal.repeated {
        Some(count) => format!(", asked {count} times more"),
        None => String::new(),
    };
    let who = who(&refusal.user, refusal.agent_id.as_deref());
    let (verb, branch) = (styled(BAD, verb), &refusal.branch);
    format!("{who} {verb} {wanted} on {branch} ({why}{again})")
}

fn of_intent(change: &IntentChange) -> String {
    let (verb, style) = match (change.previous, change.status) {
        (None, _) => ("writes", FAINT),
        (Some(IntentStatus::Blocked), IntentStatus::InProgress) => ("unblocks", CAUTION),
        (Some(_), IntentStatus::Pending | IntentStatus::InProgress) => ("begins", GOOD),
        (Some(_), IntentStatus::Completed) => ("completes", GOOD),
        (Some(_), IntentStatus::Abandoned) => ("abandons", CAUTION),
        (Some(_), IntentStatus::Blocked) => ("blocks", BAD),
    };
    let who = who(&change.user, change.agent_id.as_deref());
    let why = change
        .reason
        .as_ref()
        .map(|reason| format!(": {}", quoted_line(reason)));
    let (verb, why) = (styled(style, verb), why.unwrap_or_default());
    format!("{who} {verb} intent {}{why}", change.intent_id)
}

fn who(user: &str, agent_id: Option<&str>) -> String {
    styled(STRONG, &holder(user, agent_id))
}

fn files(named: Option<&[String]>, count: u32) -> String {
    let named = named.unwrap_or_default();
    let shown = named.len().min(MOST_NAMED);
    let more = usize::try_from(count).unwrap_or(usize::MAX).saturating_sub(shown);
    match (shown, more) {
        (0, 1) => "1 file".to_owned(),
        (0, more) => format!("{more} files"),
        (_, 0) => named[..shown].join(", "),
        (_, more) => format!("{} and {more} more", named[..shown].join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_a_sentence() {
        let mut events: Vec<Event> = serde_json::from_str(coord_protocol::event::EXAMPLES).unwrap();
        let claim = events[0].clone();
        if let Event::LockGranted(change) = claim {
            let change = LockChange {
                files: Some(["a", "b", "c", "d"].map(str::to_owned).to_vec()),
                file_count: 700,
                ..change
            };
            events.push(Event::LockGranted(change.clone()));
            events.push(Event::LockExpired(LocksEnded::OfClaim(Box::new(LockChange {
                files: None,
                ..change
            }))));
        }
        if let Event::LockRefused(refusal) = events[5].clone() {
            for (reason, status) in [
                (RefusalReason::Stale, LockStatus::Writing),
                (RefusalReason::Full, LockStatus::Reading),
                (RefusalReason::NotPushed, LockStatus::Open),
                (RefusalReason::Lost, LockStatus::Open),
            ] {
                events.push(Event::LockRefused(LockRefusal {
                    reason,
                    status,
                    repeated: None,
                    ..refusal.clone()
                }));
            }
            events.push(Event::LockRefused(LockRefusal {
                conflicts: Some(vec!["src/pool.ts".to_owned()]),
                ..refusal
            }));
        }
        let lines: Vec<String> = events.iter().map(|event| event_lines(event, 0, None)).collect();
        let plain = anstream::adapter::strip_str(&lines.join("\n")).to_string();
        // The time of day is that of this machine's zone.
        let sentences: Vec<&str> = plain.lines().map(|line| line.split_once("  ").unwrap().1).collect();
        insta::assert_snapshot!(sentences.join("\n"));
        for text in events.iter().map(|event| event_lines(event, 0, Some(60))) {
            let plain = anstream::adapter::strip_str(&text).to_string();
            let mut rows = plain.lines();
            let indent = rows.next().unwrap().find("  ").unwrap() + GAP;
            // A word that is longer has a line for itself.
            let fits = |line: &str| line.chars().count() <= 60 || !line.trim().contains(' ');
            assert!(plain.lines().all(fits), "{plain}");
            assert!(rows.all(|line| line.starts_with(&" ".repeat(indent))), "{plain}");
        }
    }
}
