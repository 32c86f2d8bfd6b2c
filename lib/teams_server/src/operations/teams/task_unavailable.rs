//! Why there is no task for an agent that wants the next one.

use coord_protocol::tasks::PassedReason;

use coord_teams_state::tasks::{MAX_EXPIRIES, Obstacles, SkippedTask, TaskCounts};

/// The sentence for a team that has no task for the caller now.
pub(super) fn explain_no_task(counts: TaskCounts, passed: &[SkippedTask], obstacles: &Obstacles) -> String {
    let TaskCounts {
        made,
        open,
        claimed,
        ready,
    } = counts;
    match (made, open) {
        (0, _) => return "The team has no tasks yet".to_owned(),
        (_, 0) => return "All tasks of the team are completed".to_owned(),
        _ => {}
    }
    let is_reserved = |task: &&SkippedTask| task.reason == PassedReason::Reserved;
    let reserved_count = passed.iter().filter(is_reserved).count();
    let verb = |count: u64, singular: &'static str, plural: &'static str| if count == 1 { singular } else { plural };
    let reserved = match reserved_count as u64 {
        0 => String::new(),
        count => format!(", {count} {} reserved for others", verb(count, "is", "are")),
    };
    let unavailable = match (passed.len() - reserved_count) as u64 {
        0 => String::new(),
        count => format!(
            ", {count} {} files that are not free for you",
            verb(count, "has", "have")
        ),
    };
    let unexamined = match ready.saturating_sub(passed.len() as u64) {
        0 => String::new(),
        count => format!(
            ", {count} more {} ready and {} not examined",
            verb(count, "is", "are"),
            verb(count, "was", "were")
        ),
    };
    let summary = match open {
        // One run of the script examines only some of very many ready tasks.
        _ if !unexamined.is_empty() => {
            format!("None of the ready tasks examined is available to you, of {open} open tasks")
        }
        1 => "The open task is not ready".to_owned(),
        _ => format!("None of {open} open tasks is ready"),
    };
    let is_or_are = verb(claimed, "is", "are");
    let count = obstacles.held_back_count;
    let held_back = match count {
        0 => String::new(),
        _ => format!(
            ", {count} {} held back after {MAX_EXPIRIES} expired claims",
            verb(count, "is", "are")
        ),
    };
    let blocked = match (open > claimed + ready + count, obstacles.blocking.as_slice()) {
        (false, _) => String::new(),
        (true, []) => ", and the rest waits for other tasks".to_owned(),
        (true, blocking) => format!(", and the rest waits for other tasks: {}", blocking.join(", ")),
    };
    let remedy = match count {
        0 => String::new(),
        _ => {
            let tasks = obstacles.held_back.iter();
            let tasks: Vec<String> = tasks
                .map(|task| format!("{} (of \"{}\")", task.id, task.creator))
                .collect();
            let more = match count - tasks.len() as u64 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(
                ". Held back until the creator, or the leader \"{}\", sends clear_lapses: {}{more}",
                obstacles.leader,
                tasks.join(", ")
            )
        }
    };
    format!("{summary}: {claimed} {is_or_are} claimed{reserved}{unavailable}{unexamined}{held_back}{blocked}{remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use coord_teams_state::tasks::HeldBackTask;

    #[test]
    fn the_reason_for_no_task_is_a_grammatical_sentence() {
        let passed = |reason| SkippedTask {
            id: "t1".to_owned(),
            reason,
            handle: None,
            until: None,
            user: None,
            agent: None,
            what: None,
        };
        let (kept, locked) = (passed(PassedReason::Reserved), passed(PassedReason::Locked));
        let none = Obstacles::default();
        let held_back = |count: u64, blocking: &[&str]| Obstacles {
            blocking: blocking.iter().copied().map(str::to_owned).collect(),
            held_back: (1..=count.min(2))
                .map(|number| HeldBackTask {
                    id: format!("t{number}"),
                    creator: format!("h{number}"),
                })
                .collect(),
            held_back_count: count,
            leader: "lead".to_owned(),
        };
        for ((open, claimed, ready), passed, obstacles, sentence) in [
            (
                (1, 1, 0),
                vec![],
                none.clone(),
                "The open task is not ready: 1 is claimed",
            ),
            (
                (1, 0, 0),
                vec![],
                held_back(1, &[]),
                "The open task is not ready: 0 are claimed, 1 is held back after 3 expired claims. Held back until the creator, or the leader \
                 \"lead\", sends clear_lapses: t1 (of \"h1\")",
            ),
            (
                (5, 1, 0),
                vec![],
                held_back(3, &["t1", "t9"]),
                "None of 5 open tasks is ready: 1 is claimed, 3 are held back after 3 expired claims, and the rest waits for other tasks: t1, \
                 t9. Held back until the creator, or the leader \"lead\", sends clear_lapses: t1 (of \"h1\"), t2 (of \"h2\") and 1 more",
            ),
            (
                (3, 1, 1),
                vec![locked.clone()],
                none.clone(),
                "None of 3 open tasks is ready: 1 is claimed, 1 has files that are not free for you, and the rest waits for other tasks",
            ),
            (
                (6, 2, 4),
                vec![kept.clone(), locked.clone(), kept.clone(), locked],
                none.clone(),
                "None of 6 open tasks is ready: 2 are claimed, 2 are reserved for others, 2 have files that are not free for you",
            ),
            (
                (40, 2, 35),
                vec![kept.clone(); 32],
                none.clone(),
                "None of the ready tasks examined is available to you, of 40 open tasks: 2 are claimed, 32 are reserved for others, 3 more \
                 are ready and were not examined, and the rest waits for other tasks",
            ),
            (
                (33, 0, 33),
                vec![kept; 32],
                none,
                "None of the ready tasks examined is available to you, of 33 open tasks: 0 are claimed, 32 are reserved for others, 1 more \
                 is ready and was not examined",
            ),
        ] {
            let counts = TaskCounts {
                made: 50,
                open,
                claimed,
                ready,
            };
            assert_eq!(explain_no_task(counts, &passed, &obstacles), sentence);
        }
        let explain_none_open = |made| {
            let counts = TaskCounts {
                made,
                ..TaskCounts::default()
            };
            explain_no_task(counts, &[], &Obstacles::default())
        };
        assert_eq!(explain_none_open(0), "The team has no tasks yet");
        assert_eq!(explain_none_open(2), "All tasks of the team are completed");
    }
}
