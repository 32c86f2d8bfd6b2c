//! An event as a sentence, for people.

use anstyle::Style;
use coord_agent::terminal::locks::holder;
use coord_agent::terminal::output::{BAD, CAUTION, FAINT, GOOD, STRONG, short, styled};
use coord_agent::terminal::times::clock;
use coord_agent::terminal::wrap::wrap;
use coord_protocol::event::{LockChange, LockRefusal, LockReservation, LocksEnded, RefusalReason};
use coord_protocol::intent_event::IntentChange;
use coord_protocol::plain_text::quote_line;
use coord_protocol::team_event::{ShutdownState, TaskChange, TasksCreated, TeamChangeKind};
use coord_protocol::{ErrorCode, Event, IntentStatus, LockMode, LockStatus};

/// The most files that a sentence names.
const MAX_FILES: usize = 3;

/// Columns between the time and the sentence.
const GAP: usize = 2;

/// The fewest columns for a sentence, however narrow the terminal is.
const MIN_COLUMNS: usize = 30;

/// The time and the sentence, in lines of at most `width` columns. Further lines are indented to the sentence.
pub(super) fn event_lines(event: &Event, now: i64, width: Option<usize>) -> String {
    let (time, sentence) = describe_event(event);
    let time = clock(time, now);
    let indent = time.len() + GAP;
    let columns = width.map_or(usize::MAX, |width| width.saturating_sub(indent).max(MIN_COLUMNS));
    let sentence = wrap(&sentence, columns).join(&format!("\n{:indent$}", ""));
    format!("{}{:GAP$}{sentence}", styled(FAINT, &time), "")
}

/// The time of the event, and its sentence.
fn describe_event(event: &Event) -> (i64, String) {
    match event {
        Event::LockGranted(change) => (change.time, describe_change(change, GOOD, "claims", "")),
        Event::LockRenewed(change) => (change.time, describe_change(change, FAINT, "renews", "")),
        Event::LockReleased(ended) => describe_ended_locks(ended, "releases", "are released"),
        Event::LockExpired(ended) => describe_ended_locks(ended, "loses", "expire"),
        Event::LockRefused(refusal) => (refusal.time, describe_refusal(refusal)),
        Event::LockReserved(reservation) => (reservation.time, describe_reservation(reservation)),
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
        Event::GraphProgress(progress) => {
            let (scanned, wanted) = (progress.scanned, progress.wanted);
            let sentence = format!(
                "the import graph of {}: {scanned} of {wanted} files are read",
                progress.branch
            );
            (progress.time, styled(FAINT, &sentence))
        }
        Event::IntentChanged(change) => (change.time, describe_intent_change(change)),
        Event::IntentOverlapAllowed(allowed) => {
            let user = styled(STRONG, &allowed.user);
            let verb = styled(CAUTION, "lets");
            (
                allowed.time,
                format!(
                    "{user} {verb} intents {} and {} overlap",
                    allowed.intent_id, allowed.other
                ),
            )
        }
        Event::FileTakenOver(taken) => {
            let user = styled(STRONG, &taken.user);
            let verb = styled(CAUTION, "takes over");
            let files = list_files(taken.files.as_deref(), taken.file_count);
            (
                taken.time,
                format!("{user} {verb} {files} for intent {}", taken.intent_id),
            )
        }
        Event::InterfaceChanged(changed) => {
            let holder = styled_holder(&changed.user, changed.agent_id.as_deref());
            let verb = styled(CAUTION, "changed the interface");
            let names = changed
                .names
                .as_deref()
                .map(|names| format!(": {}", quote_line(&names.join(", "))));
            let names = names.unwrap_or_default();
            let files = list_files(changed.files.as_deref(), changed.file_count);
            (
                changed.time,
                format!("{holder} {verb} of {files}, which was to be kept{names}"),
            )
        }
        Event::LedgerTrimmed(trimmed) => {
            let (lines, base) = (trimmed.lines, &trimmed.base);
            let sentence = format!("the {lines} oldest lines of the ledger are gone, up to {base}");
            (trimmed.time, styled(FAINT, &sentence))
        }
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
        Event::TaskUpdated(change) => describe_task(change, "changes"),
        Event::TaskClaimed(change) => describe_task(change, &styled(GOOD, "claims")),
        Event::TaskCompleted(change) => describe_task(change, &styled(GOOD, "completes")),
        Event::TaskReleased(change) => describe_task(change, "releases"),
        Event::TaskLapsed(change) => describe_task(change, &styled(CAUTION, "loses")),
        Event::TaskDeleted(change) => describe_task(change, "deletes"),
        Event::TaskUnblocked(unblocked) => {
            let (team, task) = (&unblocked.team, &unblocked.task);
            let sentence = match unblocked.task_count {
                1 => format!("1 task of {team} no longer waits for {task}"),
                count => format!("{count} tasks of {team} no longer wait for {task}"),
            };
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
    }
}

fn describe_task(change: &TaskChange, verb: &str) -> (i64, String) {
    let TaskChange { team, task, title, .. } = change;
    let member = change.handle.as_deref().unwrap_or("nobody");
    let login = change.user.as_ref().map(|user| format!(" ({user})"));
    let sentence = format!(
        "{}{} {verb} {task} of {team}: {}",
        styled(STRONG, member),
        login.unwrap_or_default(),
        quote_line(title)
    );
    (change.time, sentence)
}

/// `clause` follows the files, such as `, pushed`.
fn describe_change(change: &LockChange, style: Style, verb: &str, clause: &str) -> String {
    let mode = match change.status {
        LockMode::Writing => "",
        LockMode::Reading => " for reading",
    };
    let files = list_files(change.files.as_deref(), change.file_count);
    let LockChange { branch, message, .. } = change;
    let verb = styled(style, verb);
    let holder = styled_holder(&change.user, change.agent_id.as_deref());
    format!(
        "{holder} {verb} {files} on {branch}{mode}{clause}: {}",
        quote_line(message)
    )
}

/// The subject of `verb` is a holder, that of `verb_of_locks` are the locks of several holders.
fn describe_ended_locks(ended: &LocksEnded, verb: &str, verb_of_locks: &str) -> (i64, String) {
    let (style, clause) = if verb == "loses" {
        (CAUTION, ", which expired")
    } else {
        (GOOD, "")
    };
    match ended {
        LocksEnded::OfClaim(change) => {
            let sentence = match &change.forced_by {
                Some(user) => describe_change(change, CAUTION, "loses", &format!(", force-released by {user}")),
                None if change.is_pushed == Some(true) => describe_change(change, style, verb, ", pushed"),
                None => describe_change(change, style, verb, clause),
            };
            (change.time, sentence)
        }
        LocksEnded::OfMany(many) => {
            let files = list_files(many.files.as_deref(), many.file_count);
            (
                many.time,
                format!("the locks on {files} {}", styled(style, verb_of_locks)),
            )
        }
    }
}

fn describe_reservation(reservation: &LockReservation) -> String {
    let files = list_files(reservation.files.as_deref(), reservation.file_count);
    let holder = styled_holder(&reservation.user, reservation.agent_id.as_deref());
    format!(
        "{holder} has {files} on {} {}",
        reservation.branch,
        styled(GOOD, "reserved")
    )
}

fn describe_refusal(refusal: &LockRefusal) -> String {
    let wanted = list_files(refusal.files.as_deref(), refusal.file_count);
    let conflicts = list_files(refusal.conflicts.as_deref(), refusal.conflict_count.unwrap_or_default());
    let reason = match refusal.reason {
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
    let repetitions = match refusal.repeated {
        Some(1) => ", repeated once".to_owned(),
        Some(count) => format!(", repeated {count} times"),
        None => String::new(),
    };
    let holder = styled_holder(&refusal.user, refusal.agent_id.as_deref());
    let (verb, branch) = (styled(BAD, verb), &refusal.branch);
    format!("{holder} {verb} {wanted} on {branch} ({reason}{repetitions})")
}

fn describe_intent_change(change: &IntentChange) -> String {
    let (verb, style) = match (change.previous, change.status) {
        (None, _) => ("writes", FAINT),
        (Some(IntentStatus::Blocked), IntentStatus::InProgress) => ("unblocks", CAUTION),
        (Some(_), IntentStatus::Pending | IntentStatus::InProgress) => ("begins", GOOD),
        (Some(_), IntentStatus::Completed) => ("completes", GOOD),
        (Some(_), IntentStatus::Abandoned) => ("abandons", CAUTION),
        (Some(_), IntentStatus::Blocked) => ("blocks", BAD),
    };
    let holder = styled_holder(&change.user, change.agent_id.as_deref());
    let reason = change.reason.as_ref().map(|reason| format!(": {}", quote_line(reason)));
    let (verb, reason) = (styled(style, verb), reason.unwrap_or_default());
    format!("{holder} {verb} intent {}{reason}", change.intent_id)
}

fn styled_holder(user: &str, agent_id: Option<&str>) -> String {
    styled(STRONG, &holder(user, agent_id))
}

/// The first of `names`, and how many of `count` files are not named.
fn list_files(names: Option<&[String]>, count: u32) -> String {
    let names = names.unwrap_or_default();
    let names = &names[..names.len().min(MAX_FILES)];
    let more = usize::try_from(count).unwrap_or(usize::MAX).saturating_sub(names.len());
    match (names, more) {
        ([], 1) => "1 file".to_owned(),
        ([], more) => format!("{more} files"),
        (names, 0) => names.join(", "),
        (names, more) => format!("{} and {more} more", names.join(", ")),
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
