//! Synchronizations beside a process that writes as the plugin does, while agents change the same team over HTTP.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use coord_test_support::waiting::block_until;
use serde_json::{Value, json};

use super::TeamClone;
use super::plugin::{Act, Plugin, Statuses, Tasks, claim, complete, create, delete, depend};
use super::two_sides::{Ran, Side, stored};
use super::watching::Watch;

const ROUNDS: usize = 40;

/// The rounds that the files' side and the store's have begun: neither is ahead, so that they meet.
#[derive(Default)]
struct Pace([AtomicUsize; 2]);

impl Pace {
    fn begin(&self, side: usize, round: usize) {
        self.0[side].store(round, Ordering::Release);
        block_until("the other side is here", || {
            self.0[1 - side].load(Ordering::Acquire) >= round
        });
    }
}

/// With a third member, and tasks that both sides will claim.
fn place() -> TeamClone {
    let place = TeamClone::with_team();
    place.coord(&["team", "join", "alpha", "--agent", "w2"], 0);
    let tasks = (0..ROUNDS).map(|round| json!({ "id": format!("both{round}"), "title": "B" }));
    let new = json!({ "tasks": tasks.collect::<Vec<_>>() });
    place.lead("POST", "tasks", new);
    place.sync(0);
    place
}

/// Edges go from greater numbers to smaller ones, so that no two of them close a ring.
fn number(id: &str) -> usize {
    id.trim_start_matches(char::is_alphabetic).parse().unwrap_or(0)
}

fn is_open(task: &Value) -> bool {
    task["status"] != "completed"
}

/// An open task before `id` for which it may wait. "Either end is enough" (docs/reference/files.md) to take an edge away, also the end that
/// is not written, because this process has just written its file. So the edges that the store adds are between its tasks with odd
/// numbers, whose files this process leaves alone.
fn earlier<'t>(tasks: &'t Tasks, id: &str, random: &mut fastrand::Rng) -> Option<&'t String> {
    let is_of_store = |id: &str| id.starts_with("store") && number(id) % 2 == 1;
    let is_earlier = |other: &&String| {
        let is_named = other.starts_with("file") || other.starts_with("store");
        let is_same_side = is_of_store(id) == is_of_store(other);
        is_named && is_same_side && number(other) < number(id) && is_open(&tasks[*other])
    };
    random.choice(tasks.keys().filter(is_earlier).collect::<Vec<_>>())
}

/// The files' side. It works on its own tasks, and claims tasks that both sides may claim.
fn writes_files(plugin: &mut Plugin, mut random: fastrand::Rng, pace: &Pace) {
    let random = &mut random;
    for round in 1..ROUNDS {
        pace.begin(0, round);
        let of = |back: usize| format!("file{}", round.saturating_sub(back));
        plugin.tasks(|tasks| {
            let mut acts = create(tasks, &of(0));
            if let Some(on) = earlier(tasks, &of(0), random).cloned() {
                acts.extend(depend(tasks, &of(0), &on));
            }
            acts
        });
        plugin.tasks(|tasks| claim(tasks, &format!("both{round}")));
        plugin.tasks(|tasks| match earlier(tasks, &of(2), random).cloned() {
            Some(on) if tasks.get(&of(2)).is_some_and(is_open) => depend(tasks, &of(2), &on),
            _ => Vec::new(),
        });
        plugin.tasks(|tasks| {
            let description = format!("in the file {round}");
            tasks.get_mut("a").unwrap()["description"] = description.clone().into();
            vec![Act::Described("a".to_owned(), description)]
        });
        match round % 3 {
            0 => plugin.tasks(|tasks| delete(tasks, &of(4))),
            1 => plugin.tasks(|tasks| claim(tasks, &of(5))),
            _ => plugin.tasks(|tasks| complete(tasks, &of(6))),
        }
        plugin.tasks(|tasks| complete(tasks, &format!("both{}", round.saturating_sub(3))));
        let kind = if round % 4 == 0 { "idle" } else { "plain" };
        plugin.send("lead", kind, format!("to one {round}"));
        plugin.send("broadcast", "plain", format!("to all {round}"));
        // time: rounds of the plugin last longer than a synchronization.
        std::thread::sleep(Duration::from_millis(30));
    }
}

/// The side of the store: what `lead` does over HTTP.
struct Agent<'a> {
    place: &'a TeamClone,
    statuses: Statuses,
    acts: Vec<Act>,
}

impl Agent<'_> {
    fn does(&mut self, act: Act) {
        let (method, path, body) = match &act {
            Act::Created(id) => {
                let new = json!({ "tasks": [{ "id": id, "title": id }] });
                ("POST", "tasks".to_owned(), new)
            }
            Act::Depends(id, on) => ("PATCH", format!("tasks/{id}"), json!({ "dependencies": [on] })),
            Act::Titled(id, title) => ("PATCH", format!("tasks/{id}"), json!({ "title": title })),
            Act::Claimed(id, _) => ("POST", format!("tasks/{id}/claim"), json!({})),
            Act::Completed(id) => ("POST", format!("tasks/{id}/complete"), json!({})),
            Act::Deleted(id) => ("DELETE", format!("tasks/{id}"), json!({})),
            Act::Sent { to, text, .. } => ("POST", "messages".to_owned(), json!({ "to": [to], "message": text })),
            Act::Described(..) | Act::WentBack(_) => unreachable!("it does not do that"),
        };
        // The server may refuse it.
        if self.place.lead(method, &path, body)["error"].is_null() {
            self.acts.push(act);
        }
    }

    fn works(&mut self, mut random: fastrand::Rng, pace: &Pace) {
        let random = &mut random;
        for round in 1..ROUNDS {
            pace.begin(1, round);
            let of = |back: usize| format!("store{}", round.saturating_sub(back));
            self.does(Act::Created(of(0)));
            // The others are the files' alone.
            if round % 2 == 0 {
                self.does(Act::Claimed(format!("both{round}"), "lead"));
            }
            let tasks = stored(self.place);
            self.acts.extend(self.statuses.look(&tasks));
            if let Some(on) = earlier(&tasks, &of(0), random).filter(|_| round % 2 == 1) {
                self.does(Act::Depends(of(0), on.clone()));
            }
            if let Some(id) = random.choice(tasks.keys().filter(|id| id.starts_with("file")).collect::<Vec<_>>()) {
                self.does(Act::Titled(id.clone(), format!("of the server {round}")));
            }
            self.does(Act::Titled("a".to_owned(), format!("of the server {round}")));
            if round % 3 == 0 {
                self.does(Act::Claimed(of(2), "lead"));
                self.does(Act::Completed(of(5)));
            }
            self.does(Act::Completed(format!("both{}", round.saturating_sub(2))));
            self.does(Act::Created(format!("gone{round}")));
            self.does(Act::Deleted(format!("gone{}", round.saturating_sub(3))));
            for (to, name) in [("w1", "one"), ("broadcast", "all")] {
                let text = format!("of the server to {name} {round}");
                self.does(Act::Sent { from: "lead", to, text });
            }
        }
    }
}

/// Both sides act, while `synchronizes` makes reports until they have.
fn run(place: &TeamClone, seed: u64, synchronizes: impl FnOnce(&dyn Fn() -> bool) -> Vec<Value>) -> Ran {
    let pace = Pace::default();
    let mut plugin = Plugin::new(place);
    let mut agent = Agent {
        place,
        statuses: Statuses::default(),
        acts: Vec::new(),
    };
    let [one, other] = [seed, seed + 1].map(fastrand::Rng::with_seed);
    let reports = std::thread::scope(|scope| {
        let files = scope.spawn(|| writes_files(&mut plugin, one, &pace));
        let store = scope.spawn(|| agent.works(other, &pace));
        synchronizes(&|| files.is_finished() && store.is_finished())
    });
    Ran {
        by_files: plugin.acts,
        by_store: agent.acts,
        reports,
    }
}

#[test]
fn nothing_is_lost_between_both_sides_that_are_synchronized_again_and_again() {
    let place = place();
    let one = || {
        let ended = place.run(&["team", "sync", "--json"]);
        assert!(matches!(ended.status.code(), Some(0 | 3)), "{ended:?}");
        serde_json::from_slice(&ended.stdout).unwrap()
    };
    let mut ran = run(&place, 1, |are_done| {
        let mut reports = Vec::new();
        while !are_done() {
            reports.push(one());
        }
        reports
    });
    ran.reports.push(one());
    ran.judge(&place);
    place.assert_quiet();
}

#[test]
fn nothing_is_lost_between_both_sides_that_are_watched() {
    let place = place();
    let mut watch = Watch::start(&place);
    let ran = run(&place, 3, |are_done| {
        block_until("both sides have done all", are_done);
        block_until("both sides are alike", || {
            Side::of_files(&place) == Side::of_store(&place)
        });
        assert_eq!(watch.end(), Some(0));
        let parse = |line: String| serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        watch.lines.iter().map(parse).collect()
    });
    ran.judge(&place);
    place.assert_quiet();
}
