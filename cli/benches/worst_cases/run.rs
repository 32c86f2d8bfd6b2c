//! One case on one store, and what it costs.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use coord_domain::{FilePath, NeighborPolicy};
use coord_protocol::InterfacePromise;
use coord_state as state;
use coord_state::locks::{BrokenInterfacePromise, InterfaceTerms, PolicyTerms, ReleaseOutcome};
use coord_store::{Request, Store};
use coord_test_support::process::processor_time;
use coord_test_worlds::script_agent::ScriptAgent;

use crate::cases::{Act, Case, EXPIRY, State};

/// The head of the branch when the locks were claimed.
const BEFORE: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

/// One case in its own repository.
struct Run<'a> {
    store: &'a dyn Store,
    agent: ScriptAgent,
}

impl Run<'_> {
    async fn command(&self, words: Vec<Vec<u8>>) {
        if words.len() > 2 {
            let replies = self.store.run(vec![Request::Command(words)]).await.expect("an answer");
            assert!(!matches!(replies[0], coord_store::Value::Error(_)), "{replies:?}");
        }
    }

    /// Sends `command key` with `words`, in batches.
    async fn fill(&self, command: &str, key: &str, words: &[String]) {
        for some in words.chunks(2000) {
            let mut all = vec![command.as_bytes().to_vec(), key.as_bytes().to_vec()];
            all.extend(some.iter().map(|word| word.as_bytes().to_vec()));
            self.command(all).await;
        }
    }

    /// Stores the locks by one claim each.
    async fn hold(&self, state: &State) {
        let (mut locks, mut expiries, mut count) = (Vec::new(), Vec::new(), 0);
        let mut by_person: BTreeMap<String, usize> = BTreeMap::new();
        for (place, (path, people, writes)) in state.held.iter().enumerate() {
            let mut entries = Vec::new();
            let is_own = place < state.own;
            for number in 0..*people + usize::from(is_own) {
                let is_callers = is_own && number == 0;
                count += 1;
                let status = if *writes { "WRITING" } else { "READING" };
                let person = match is_callers {
                    true => self.agent.holder.user_id.as_str().to_owned(),
                    false => format!("person{}", count % 10),
                };
                *by_person.entry(format!("@{person}")).or_default() += 1;
                *by_person.entry("all".to_owned()).or_default() += 1;
                let mut entry = serde_json::json!({
                    "key": format!("{}:main:{path}", self.agent.repo), "file_path": path, "branch": "main",
                    "user_id": person, "user_name": "Mona Lisa",
                    "agent_id": if is_callers { String::new() } else { format!("agent-{number}") },
                    "status": status, "agent_head": BEFORE,
                    "message": state.message, "timestamp": EXPIRY - 300, "expiry": EXPIRY, "token": count,
                });
                if state.keeps && *writes {
                    entry["interface"] = "keeps".into();
                }
                entries.push(entry);
            }
            // The blanks of `modules/changes.lua`, by the token of the first entry.
            let blanks = " ".repeat(entries[0]["token"].as_u64().map_or(0, |token| token as usize % 64));
            locks.extend([path.clone(), serde_json::Value::Array(entries).to_string() + &blanks]);
            expiries.extend([EXPIRY.to_string(), path.clone()]);
        }
        let counts: Vec<String> = by_person
            .into_iter()
            .flat_map(|(field, count)| [field, count.to_string()])
            .collect();
        self.fill("HSET", &state::locks::keys::locks(&self.agent.repo), &locks)
            .await;
        self.fill("ZADD", &state::locks::keys::expiries(&self.agent.repo), &expiries)
            .await;
        self.fill("HSET", &state::locks::keys::held(&self.agent.repo), &counts)
            .await;
        if !state.queued.is_empty() {
            self.queue(state).await;
        }
    }

    /// Stores the tickets in the form of `queue.lua`; each has asked just now.
    async fn queue(&self, state: &State) {
        let now_ms = state::store_time().run(self.store).await.expect("an answer");
        let tickets = state.queued.iter().enumerate().map(|(number, files)| {
            let mut ticket = serde_json::json!({
                "id": format!("{number:012x}"), "user_id": format!("person{}", number % 10), "user_name": "Mona Lisa",
                "agent_id": format!("waiting-{number}"), "branch": "main", "status": "WRITING", "message": "Work".repeat(125),
                "files": files, "since": now_ms, "asked": now_ms,
            });
            if state.is_queued && number + 1 == state.queued.len() {
                let mut files = files.clone();
                files.sort();
                // The digest by which the same claim finds it.
                let claim = [self.agent.holder.user_id.as_str(), "", "main", "WRITING", &files.join("\n")].join("\n");
                ticket["id"] = sha1_smol::Sha1::from(claim).hexdigest()[..12].into();
                ticket["user_id"] = self.agent.holder.user_id.as_str().into();
                if let Some(ticket) = ticket.as_object_mut() {
                    ticket.remove("agent_id");
                }
            }
            ticket
        });
        let tickets = serde_json::Value::from_iter(tickets).to_string();
        let key = state::locks::keys::queue(&self.agent.repo);
        self.command(["SET", &key, &tickets].map(|word| word.as_bytes().to_vec()).into())
            .await;
    }

    /// Number of tickets.
    async fn tickets(&self) -> usize {
        let key = state::locks::keys::queue(&self.agent.repo);
        let replies = self.store.run(vec![Request::command(["GET", &key])]).await;
        let tickets = replies.expect("an answer").remove(0);
        let tickets: Vec<serde_json::Value> = serde_json::from_str(tickets.as_str().unwrap_or("[]")).expect("tickets");
        tickets.len()
    }

    async fn forget(&self) {
        for key in [
            state::locks::keys::locks(&self.agent.repo),
            state::locks::keys::expiries(&self.agent.repo),
            state::locks::keys::held(&self.agent.repo),
            state::events::keys::refusals(&self.agent.repo),
            state::locks::keys::releases(&self.agent.repo),
            state::locks::keys::queue(&self.agent.repo),
        ] {
            self.store
                .run(vec![Request::command(["DEL", &key])])
                .await
                .expect("an answer");
        }
    }

    /// The adjacency, in the format of `modules/neighbors.lua`.
    async fn import(&self, imports: &[(String, String)]) {
        const MAX_LINES: usize = 512;
        let mut lines: BTreeMap<&str, Vec<(char, &str)>> = BTreeMap::new();
        for (from, to) in imports {
            lines.entry(from).or_default().push(('>', to));
            lines.entry(to).or_default().push(('<', from));
        }
        let is_hub = |path: &str| lines[path].len() > MAX_LINES;
        let text = |lines: &mut dyn Iterator<Item = &(char, &str)>| {
            lines.map(|(sign, path)| format!("{sign}{path}\n")).collect::<String>()
        };
        let mut fields = Vec::new();
        for (path, all) in &lines {
            if is_hub(path) {
                let chunks = all.chunks(MAX_LINES);
                let head = format!("B{}:{}\n", all.len(), chunks.len());
                let hubs = text(&mut all.iter().filter(|(_, other)| is_hub(other)));
                fields.extend([(*path).to_owned(), head + &hubs]);
                for (number, chunk) in (1..).zip(chunks) {
                    fields.extend([format!("{path}\n{number}"), text(&mut chunk.iter())]);
                }
            } else {
                fields.extend([(*path).to_owned(), format!("{}\n{}", all.len(), text(&mut all.iter()))]);
            }
        }
        self.fill(
            "HSET",
            &state::builds::keys::graph_adjacency(&self.agent.repo, &self.agent.branch),
            &fields,
        )
        .await;
    }

    /// The outcome, in a word.
    async fn ask(&self, act: &Act) -> String {
        let parse = |paths: &[String]| -> Vec<FilePath> {
            paths
                .iter()
                .map(|path| FilePath::parse(path).expect("a path"))
                .collect()
        };
        match act {
            Act::Check(paths) => {
                let survey = self.agent.check(self.store, &parse(paths)).await.expect("an answer");
                format!("{} locks, {} more", survey.findings.len(), survey.omitted)
            }
            Act::Claim(paths) => word(&self.agent.claim(self.store, &parse(paths)).await.expect("an answer")),
            Act::Everything => match self.agent.release(self.store, &[], false).await.expect("an answer") {
                ReleaseOutcome::Released(released) => format!("{} released", released.released.len()),
                other => word(&other),
            },
            Act::Tell(paths) => {
                // A file whose interface is not compared counts as changed, without names: most of these lines have room.
                let broken = paths.iter().map(|path| BrokenInterfacePromise {
                    path: path.clone(),
                    names: Vec::new(),
                });
                let broken: Vec<BrokenInterfacePromise> = broken.collect();
                let known = std::slice::from_ref(&self.agent.head);
                let notified =
                    state::locks::announce_interface_changes(self.store, &self.agent.admission(known), &broken).await;
                format!("{} told", notified.expect("an answer"))
            }
        }
    }
}

/// The name of a variant.
fn word(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default()
        .to_owned()
}

pub struct Measurement {
    pub processor: Option<Duration>,
    pub median: Duration,
    pub longest: Duration,
    pub outcome: String,
}

impl Measurement {
    /// Of the times of some rounds.
    pub fn of(mut times: Vec<Duration>, mut processor: Vec<Duration>, outcome: String) -> Measurement {
        times.sort();
        processor.sort();
        Measurement {
            processor: processor.get(processor.len() / 2).copied(),
            median: times[times.len() / 2],
            longest: times[times.len() - 1],
            outcome,
        }
    }
}

pub async fn measure(store: &dyn Store, process: u32, number: usize, case: &Case, rounds: usize) -> Measurement {
    let repo = format!("https://github.com/acme/case{number}");
    let mut agent = ScriptAgent::new(&repo).expect("a repository");
    if case.state.keeps {
        agent.policy = PolicyTerms {
            interface: InterfaceTerms {
                promise: Some(InterfacePromise::Keeps),
                changed: Vec::new(),
            },
            ..PolicyTerms::of(NeighborPolicy::Interface)
        };
    }
    let run = Run { store, agent };
    run.import(&case.state.imports).await;
    let (mut times, mut processor, mut outcome) = (Vec::new(), Vec::new(), String::new());
    for round in 0..=rounds {
        // Tickets end after half a minute.
        if round == 0 || !matches!(case.act, Act::Check(..)) || !case.state.queued.is_empty() {
            run.forget().await;
            run.hold(&case.state).await;
        }
        let (begin, before) = (Instant::now(), processor_time(process));
        outcome = run.ask(&case.act).await;
        // The first round loads the script.
        if round > 0 {
            times.push(begin.elapsed());
            processor.extend(before.and_then(|before| processor_time(process)?.checked_sub(before)));
        }
        if !case.state.queued.is_empty() {
            outcome = format!("{outcome}, {} tickets", run.tickets().await);
        }
        assert_eq!(outcome, case.answer, "{}", case.name);
    }
    Measurement::of(times, processor, outcome)
}
