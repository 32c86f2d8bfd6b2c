//! A report for people.

use anstyle::Style;
use coord_agent::terminal::intents;
use coord_agent::terminal::locks::{holder, mode};
use coord_agent::terminal::output::{CAUTION, FAINT, GOOD, STRONG, short, styled};
use coord_agent::terminal::table::{self, Column, Cut, cut};
use coord_agent::terminal::times::{countdown, duration};
use coord_agent::terminal::wrap::wrap;
use coord_protocol::plain_text::quote_line;
use coord_protocol::{BlockingLock, HeldLock, WaitingClaim};

use super::hooks::HookRun;
use super::report::{Report, ReportedLock, Standing};

/// The most hooks in their line.
const MAX_HOOKS: usize = 6;

const FILE: Column = Column::new("FILE", Cut::Start, 16);
const HOLDER: Column = Column::new("HOLDER", Cut::End, 8);
const BRANCH: Column = Column::new("BRANCH", Cut::End, 8);
const MODE: Column = Column::new("MODE", Cut::End, 6);
const SINCE: Column = Column::new("SINCE", Cut::Never, 0);
const EXPIRES: Column = Column::new("EXPIRES", Cut::Never, 0);
const WAITING: Column = Column::new("WAITING", Cut::End, 8);
const WANTS: Column = Column::new("WANTS", Cut::Start, 12);
const WAITS_FOR: Column = Column::new("WAITS FOR", Cut::End, 16);
const MESSAGE: Column = Column::new("MESSAGE", Cut::End, 12);

/// The report as text; no line is wider than `width`, if there is one.
pub(super) fn render(report: &Report, now: i64, width: Option<usize>) -> String {
    let mut text = heading(report, width);
    text.push('\n');
    if report.locks.is_empty() {
        text.push_str("No files are locked.\n");
    } else {
        text.push_str(&lock_table(report, now, width));
    }
    if !report.waiting.is_empty() {
        text.push_str(&format!("\n{}", waiting_table(report, now, width)));
    }
    if report.locks_omitted > 0 {
        text.push_str(&format!(
            "and {} more locks, which the server left out\n",
            report.locks_omitted
        ));
    }
    text.push('\n');
    if !report.intents.intents.is_empty() {
        text.push_str(&intents::table(
            &report.intents.intents,
            report.intents.selected.as_deref(),
            width,
        ));
        text.push('\n');
    }
    text.push_str(&hook_line(report, now, width));
    text
}

fn heading(report: &Report, width: Option<usize>) -> String {
    let branch = styled(STRONG, &report.branch);
    let branch_head = match (&report.branch_head, &report.branch_head_ref) {
        (Some(head), Some(reference)) => {
            let reference = reference.strip_prefix("refs/remotes/").unwrap_or(reference);
            format!("{branch} is at {} ({reference})", short(head))
        }
        (Some(head), None) => format!("{branch} is at {}", short(head)),
        (None, _) => format!("{branch} is not known to this clone"),
    };
    let head = report.head.as_deref().map_or("nothing", short);
    let standing = match report.standing {
        Standing::AtHead => styled(GOOD, "your working copy contains that commit"),
        Standing::Ahead => styled(CAUTION, &format!("your working copy is ahead, at {head}: not pushed")),
        Standing::Behind => styled(
            CAUTION,
            &match &report.pull {
                Some(pull) => format!("your working copy is behind, at {head}: {pull}"),
                None => format!("your working copy is behind, at {head}"),
            },
        ),
        Standing::Unknown => format!("your working copy is at {head}"),
    };
    let agent = match &report.agent_id {
        Some(agent) => format!("you are the agent {}\n", styled(STRONG, agent)),
        None => String::new(),
    };
    let intent = match &report.intents.selected {
        Some(intent) => format!("you work on the intent {}\n", styled(STRONG, intent)),
        None if report.intents.is_required => {
            styled(CAUTION, "you have selected no intent: coord intent select ID") + "\n"
        }
        None => String::new(),
    };
    let bypasses = match &report.bypasses {
        Some((count, newest)) => {
            let sentence = format!("bypasses of the guard: {count}, the last one {newest}");
            styled(CAUTION, &sentence) + "\n"
        }
        None => String::new(),
    };
    let repository = report.repo_url.strip_prefix("https://").unwrap_or(&report.repo_url);
    let owner = report.server_owner.as_ref();
    let owner = owner.map(|owner| format!(", {owner}")).unwrap_or_default();
    let max_width = width.unwrap_or(usize::MAX);
    let warnings = report.warnings.iter().flat_map(|warning| wrap(warning, max_width));
    let warnings: String = warnings.map(|line| styled(CAUTION, &line) + "\n").collect();
    let target = format!("{repository} at {}{owner}", report.server);
    let target = width.map_or(target.clone(), |width| cut(&target, width, Cut::End));
    format!(
        "{}\n{branch_head}\n{standing}\n{agent}{intent}{bypasses}{warnings}",
        styled(FAINT, &target)
    )
}

fn lock_table(report: &Report, now: i64, width: Option<usize>) -> String {
    let is_elsewhere = |reported: &ReportedLock| reported.lock.branch != report.branch;
    let has_branch_column = report.locks.iter().any(is_elsewhere);
    let mut columns = vec![FILE, HOLDER, MODE, SINCE, EXPIRES, MESSAGE];
    if has_branch_column {
        columns.insert(1, BRANCH);
    }
    let row = |reported: &ReportedLock| {
        let HeldLock {
            file_path,
            branch,
            since,
            timestamp,
            expiry,
            message,
            status,
            interface,
            shared,
            ..
        } = &reported.lock;
        let mut cells = vec![
            file_path.clone(),
            holder_of(report, reported),
            mode(*status, *interface, *shared),
            duration(now - since.unwrap_or(*timestamp)),
            countdown(expiry - now),
            quote_line(message),
        ];
        if has_branch_column {
            cells.insert(1, branch.clone());
        }
        let style = if reported.is_own { GOOD } else { Style::new() };
        (style, cells)
    };
    let rows: Vec<_> = report.locks.iter().map(row).collect();
    table::render(&columns, &rows, width)
}

/// Waiting claims, and the holders that they wait for.
fn waiting_table(report: &Report, now: i64, width: Option<usize>) -> String {
    // The claim waits until the last of these, unless a lock is released earlier.
    let expiry = |blocking: &BlockingLock| {
        let mut locks = report.locks.iter().map(|reported| &reported.lock);
        let lock = locks.find(|lock| {
            (&lock.file_path, &lock.user, &lock.agent_id) == (&blocking.file_path, &blocking.user, &blocking.agent_id)
        });
        lock.map(|lock| lock.expiry)
    };
    let row = |claim: &WaitingClaim| {
        let locks: Vec<String> = claim
            .waits_for
            .iter()
            .map(|lock| {
                let holder = holder_name(report, &lock.user, lock.agent_id.as_deref());
                format!("{holder}: {}", lock.file_path)
            })
            .collect();
        let waits_for = match claim.reserved_until {
            Some(_) => "nobody: reserved".to_owned(),
            None => locks.join(", "),
        };
        let until = claim
            .reserved_until
            .or_else(|| claim.waits_for.iter().filter_map(expiry).max());
        let cells = [
            holder_name(report, &claim.user, claim.agent_id.as_deref()),
            claim.file_paths.join(", "),
            waits_for,
            duration(now - claim.since),
            until.map_or_else(String::new, |until| countdown(until - now)),
            quote_line(&claim.message),
        ];
        (Style::new(), cells.to_vec())
    };
    let rows: Vec<_> = report.waiting.iter().map(row).collect();
    table::render(&[WAITING, WANTS, WAITS_FOR, SINCE, EXPIRES, MESSAGE], &rows, width)
}

/// The lock's holder, as the caller sees it.
fn holder_of(report: &Report, reported: &ReportedLock) -> String {
    match reported.is_own {
        true => "you".to_owned(),
        false => holder_name(report, &reported.lock.user, reported.lock.agent_id.as_deref()),
    }
}

/// The holder; if all holders are agents of one person, the agent's name alone.
fn holder_name(report: &Report, user: &str, agent: Option<&str>) -> String {
    let holders = report.locks.iter().map(|reported| reported.lock.user.as_str());
    let mut users = holders.chain(report.waiting.iter().map(|claim| claim.user.as_str()));
    match agent {
        Some(agent) if users.all(|other| other == user) => agent.to_owned(),
        agent => holder(user, agent),
    }
}

fn hook_line(report: &Report, now: i64, width: Option<usize>) -> String {
    let describe = |run: &HookRun| format!("{} {} {} ago", run.agent, run.event, duration(now - run.time));
    let line = match &report.hooks[..] {
        [] => "hooks: no hook of an agent has run here yet".to_owned(),
        hooks => {
            let runs: Vec<String> = hooks.iter().take(MAX_HOOKS).map(describe).collect();
            format!("hooks: {}", runs.join(", "))
        }
    };
    let line = width.map_or(line.clone(), |width| cut(&line, width, Cut::End));
    format!("{}\n", styled(FAINT, &line))
}

#[cfg(test)]
mod tests {
    use coord_protocol::{IntentsResponse, InterfacePromise, LockMode};
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::commands::status::report::tests::lock;

    const LONG: &str = "packages/server/src/authentication/session.ts";

    fn waiting(agent: &str) -> WaitingClaim {
        WaitingClaim {
            file_paths: vec!["src/page.ts".to_owned()],
            branch: "main".to_owned(),
            user: "ann".to_owned(),
            user_name: "Ann".to_owned(),
            agent_id: Some(agent.to_owned()),
            status: LockMode::Writing,
            message: "Renaming the pool".to_owned(),
            since: 960,
            reserved_until: None,
            waits_for: Vec::new(),
        }
    }

    fn blocking(file: &str, user: &str, agent: &str) -> BlockingLock {
        BlockingLock {
            file_path: file.to_owned(),
            user: user.to_owned(),
            agent_id: Some(agent.to_owned()),
        }
    }

    fn intents(intents: &Json) -> IntentsResponse {
        serde_json::from_value(json!({ "intents": intents, "state": "REQUEST" })).unwrap()
    }

    fn report(branch: &str) -> Report {
        let own = HeldLock {
            message: "Adding a pool: query() becomes async".to_owned(),
            ..lock("ann", Some("claude-1"), "src/db.ts")
        };
        let others = HeldLock {
            branch: branch.to_owned(),
            status: LockMode::Reading,
            message: "Reading how sessions are kept, and for how long".to_owned(),
            ..lock("bob", Some("codex-7f"), LONG)
        };
        let reported = |is_own, lock| ReportedLock { is_own, lock };
        Report {
            repo_url: "https://github.com/acme/shop".to_owned(),
            server: "http://127.0.0.1:41233".to_owned(),
            is_local: true,
            server_owner: Some("the coord serve of this clone".to_owned()),
            warnings: Vec::new(),
            branch: "main".to_owned(),
            branch_head: Some("99cc7da9399f806a758cf80dab931201cf07c67e".to_owned()),
            branch_head_ref: Some("refs/remotes/origin/main".to_owned()),
            head: Some("9bee4e10f4a4a5cf3bd2e0c6ce2bb6ae1c0a8e55".to_owned()),
            standing: Standing::Behind,
            pull: Some("git pull --rebase".to_owned()),
            bypasses: None,
            agent_id: Some("claude-1".to_owned()),
            locks: vec![reported(true, own), reported(false, others)],
            locks_omitted: 0,
            waiting: Vec::new(),
            intents: intents(&json!([])),
            hooks: vec![HookRun {
                agent: "claude-code".to_owned(),
                event: "PreToolUse".to_owned(),
                time: 880,
            }],
        }
    }

    fn plain(report: &Report, width: Option<usize>) -> String {
        anstream::adapter::strip_str(&render(report, 1000, width)).to_string()
    }

    #[test]
    fn a_report_is_readable_wide_and_narrow() {
        let texts = [
            plain(&report("main"), None),
            plain(&report("main"), Some(80)),
            plain(&report("feature/sessions"), Some(80)),
        ];
        insta::assert_snapshot!(texts.join("\n----\n"));
    }

    #[test]
    fn shared_files_and_interfaces_that_are_kept_are_marked() {
        let mut report = report("main");
        report.locks[0].lock.interface = Some(InterfacePromise::Keeps);
        report.locks[1].lock.shared = true;
        let text = plain(&report, None);
        assert!(text.contains(" writes, keeps its interface "), "{text}");
        assert!(text.contains(" reads, shared "), "{text}");
    }

    #[test]
    fn waiting_claims_are_shown_and_agents_of_one_person_by_name_alone() {
        let mut report = report("main");
        report.locks[1].lock.user = "ann".to_owned();
        let blocked = WaitingClaim {
            waits_for: vec![blocking("src/db.ts", "ann", "claude-1")],
            ..waiting("codex-2")
        };
        let reserved = WaitingClaim {
            reserved_until: Some(1012),
            ..waiting("codex-3")
        };
        report.waiting = vec![blocked, reserved];
        insta::assert_snapshot!([plain(&report, None), plain(&report, Some(80))].join("----\n"));
    }

    #[test]
    fn no_line_is_wider_than_80_columns_whatever_is_long() {
        let mut report = report("feature/a-long-name-of-a-branch");
        report.locks[0].lock.interface = Some(InterfacePromise::Keeps);
        report.locks[1].lock.shared = true;
        report.waiting = vec![WaitingClaim {
            file_paths: vec![LONG.to_owned(), "src/page.ts".to_owned()],
            user: "a-long-login".to_owned(),
            message: "Renaming the pool, and every caller".to_owned(),
            waits_for: vec![blocking(LONG, "bob", "codex-7f")],
            ..waiting("claude-code-0d5ab")
        }];
        report.warnings =
            vec!["another clone of this repository has its own server, whose locks do not count here".to_owned()];
        for line in plain(&report, Some(80)).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn an_empty_report_states_that_nothing_is_held() {
        let nothing = Report {
            locks: Vec::new(),
            hooks: Vec::new(),
            agent_id: None,
            standing: Standing::AtHead,
            pull: None,
            bypasses: None,
            ..report("main")
        };
        insta::assert_snapshot!(plain(&nothing, Some(80)));
    }

    #[test]
    fn intents_are_shown_where_there_are_any() {
        let view = |id: &str, status: &str| {
            json!({
                "id": id, "name": "Connection pooling", "description": "", "status": status, "constraints": [],
                "owned_scope": ["src/db/**"], "acceptance_criteria": ["Tests pass"], "owned_files": 2,
                "budget": { "max_turns": 50, "consumed_turns": 12 },
            })
        };
        let mut selected = intents(&json!([view("POOL-1", "IN_PROGRESS"), view("POOL-2", "BLOCKED")]));
        selected.selected = Some("POOL-1".to_owned());
        let mut required = intents(&json!([]));
        required.is_required = true;
        let texts = [selected, required].map(|intents| {
            let report = Report {
                intents,
                ..report("main")
            };
            plain(&report, Some(80))
        });
        insta::assert_snapshot!(texts.join("\n----\n"));
    }
}
