//! The most expensive requests within the limits: `cargo bench -p coord-cli --bench worst_cases`.
//!
//! A running script blocks all other requests, so none may take long, whatever a caller sends and whatever others hold. For
//! each case, on a redis-server and on the embedded store, this prints the milliseconds of the store's processor time
//! (Linux; median of the rounds, with the caller's for the embedded store), median and maximum of the wall time, and the
//! outcome. On a busy machine only the first can be compared. `-- --rounds N` (default: 9), `-- --only TEXT`: cases with the
//! text in their names.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use coord::domain::{Branch, CommitSha, FilePath, Holder, LockMode, LockReason, NeighborPolicy, RepoId, UserId};
use coord::store::redis::RedisStore;
use coord::store::scripts::{self, AdmissionTerms, Admitted, Release, ReleaseOutcome, Wanted};
use coord::store::{Request, Store, keys};
use coord_embedded::EmbeddedStore;

const HEAD: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const FAR: i64 = 4_000_000_000;
const LONG_AGO: i64 = 1_000_000_000;
/// Most locks of a repository.
const MOST: usize = 10_000;

/// The locks, and the graph.
#[derive(Default)]
struct State {
    /// Path, number of holders, and whether it is locked for writing.
    held: Vec<(String, usize, bool)>,
    /// Whether each has a second lock for writing, on another branch.
    is_mixed: bool,
    /// Number of these files that the caller has locked for reading as well.
    own: usize,
    expiry: i64,
    message: String,
    imports: Vec<(String, String)>,
}

/// The measured request.
enum Act {
    Check(LockMode, Vec<String>),
    Claim(LockMode, Vec<String>),
    /// Releases files that the caller has claimed before.
    Abandon(Vec<String>),
    /// Releases everything that the caller holds, which is nothing.
    Everything,
    Sweep,
}

struct Case {
    name: &'static str,
    state: State,
    act: Act,
}

fn files(prefix: &str, count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("src/package/module/{prefix}/component{number}.ts"))
        .collect()
}

fn held(paths: &[String], readers: usize) -> Vec<(String, usize, bool)> {
    paths.iter().map(|path| (path.clone(), readers, false)).collect()
}

fn all_import(from: &[String], to: &[String]) -> Vec<(String, String)> {
    let pairs = from
        .iter()
        .flat_map(|from| to.iter().map(|to| (from.clone(), to.clone())));
    pairs.collect()
}

fn state(held: Vec<(String, usize, bool)>, imports: Vec<(String, String)>) -> State {
    State {
        held,
        expiry: FAR,
        message: "Rework the session handling so that it uses tokens".to_owned(),
        imports,
        ..State::default()
    }
}

fn cases() -> Vec<Case> {
    use LockMode::{Reading, Writing};
    let case = |name, state, act| Case { name, state, act };
    let many = files("held", MOST);
    let hub = vec!["src/hub.ts".to_owned()];
    let hubs = files("hubs", 256);
    let requested = files("requested", 512);
    let long: Vec<String> = (0..512).map(|number| format!("{number:0>128}")).collect();
    let wordy = |held| State {
        message: "\u{1f600}".repeat(500),
        ..state(held, Vec::new())
    };
    let neighbors = files("neighbors", 150_000);
    vec![
        case(
            "check of a hub: all 10,000 locks are on its importers",
            state(held(&many[..MOST - 1], 1), all_import(&many, &hub)),
            Act::Check(Writing, hub.clone()),
        ),
        case(
            "the same, and each importer has two locks, on two branches",
            State {
                is_mixed: true,
                ..state(held(&many[..MOST / 2], 1), all_import(&many, &hub))
            },
            Act::Check(Writing, hub.clone()),
        ),
        case(
            "check of a hub of 150,000 importers, 10,000 other files held",
            state(held(&many, 1), all_import(&neighbors, &hub)),
            Act::Check(Writing, hub.clone()),
        ),
        case(
            "check of 256 hubs, 3,600 files held that import each",
            state(held(&many[..3600], 1), all_import(&many[..3600], &hubs)),
            Act::Check(Writing, hubs.clone()),
        ),
        case(
            "check of 12 hubs, 3,600 files held that import each of 256",
            state(held(&many[..3600], 1), all_import(&many[..3600], &hubs)),
            Act::Check(Writing, hubs[..12].to_vec()),
        ),
        case(
            "check of 512 files of 190 neighbors each, 10,000 other files held",
            state(held(&many, 1), all_import(&requested, &neighbors[..190])),
            Act::Check(Writing, requested.clone()),
        ),
        case(
            "check of 512 files of 190 neighbors each, all of them held",
            state(held(&many[..190], 50), all_import(&requested, &many[..190])),
            Act::Check(Writing, requested.clone()),
        ),
        case(
            "check of 512 files with 8 readers each",
            state(held(&requested, 8), Vec::new()),
            Act::Check(Reading, requested.clone()),
        ),
        case(
            "claim for reading of 500 files with 7 readers each",
            state(held(&requested, 7), Vec::new()),
            Act::Claim(Reading, requested[..500].to_vec()),
        ),
        case(
            "claim for reading of 120 files with 34 readers each",
            state(held(&requested[..120], 34), Vec::new()),
            Act::Claim(Reading, requested[..120].to_vec()),
        ),
        case(
            "check of 512 files with 6 locks of 2.5 KiB each",
            wordy(held(&long, 6)),
            Act::Check(Reading, long.clone()),
        ),
        case(
            "claim for writing of 512 files that others write, with long messages",
            wordy(long.iter().map(|path| (path.clone(), 1, true)).collect()),
            Act::Claim(Writing, long.clone()),
        ),
        case(
            "claim for writing of 512 free files, 9,000 others held",
            state(held(&many[..9000], 1), Vec::new()),
            Act::Claim(Writing, requested.clone()),
        ),
        case(
            "claim of 512 files with 8 expired locks each",
            State {
                expiry: LONG_AGO,
                ..state(held(&requested, 8), Vec::new())
            },
            Act::Claim(Writing, requested.clone()),
        ),
        case(
            "release of 500 files of 190 importers each",
            state(Vec::new(), all_import(&neighbors[..190], &requested[..500])),
            Act::Abandon(requested[..500].to_vec()),
        ),
        case(
            "release of everything: 2,000 files, 4 others read each",
            State {
                own: 2000,
                ..state(held(&many[..2000], 4), Vec::new())
            },
            Act::Everything,
        ),
        case(
            "release of everything: 2,000 files of 190 importers each",
            State {
                own: 2000,
                ..state(held(&many[..2000], 0), all_import(&neighbors[..190], &many[..2000]))
            },
            Act::Everything,
        ),
        case(
            "release of everything: 1 file, 9,999 locks of others",
            State {
                own: 1,
                ..state([held(&many[..1], 0), held(&many[1..], 1)].concat(), Vec::new())
            },
            Act::Everything,
        ),
        case(
            "sweep of 500 files with 8 expired locks each",
            State {
                expiry: LONG_AGO,
                ..state(held(&requested, 8), Vec::new())
            },
            Act::Sweep,
        ),
    ]
}

/// One case in a repository of its own.
struct Run<'a> {
    store: &'a dyn Store,
    repo: RepoId,
    branch: Branch,
    holder: Holder,
    head: CommitSha,
}

impl Run<'_> {
    async fn command(&self, words: Vec<Vec<u8>>) {
        if words.len() > 2 {
            let replies = self.store.run(vec![Request::Command(words)]).await.expect("an answer");
            assert!(!matches!(replies[0], coord::store::Value::Error(_)), "{replies:?}");
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

    /// Stores the locks in the form of claims: each lock by a claim of its own.
    async fn hold(&self, state: &State) {
        let (mut locks, mut expiries, mut count) = (Vec::new(), Vec::new(), 0);
        let mut by_person: BTreeMap<String, usize> = BTreeMap::new();
        for (place, (path, people, writes)) in state.held.iter().enumerate() {
            let mut entries = Vec::new();
            let is_own = place < state.own;
            for number in 0..*people + usize::from(state.is_mixed) + usize::from(is_own) {
                let is_elsewhere = state.is_mixed && number == 0;
                let is_callers = is_own && number == 0;
                let branch = if is_elsewhere { "other" } else { "main" };
                count += 1;
                let person = match is_callers {
                    true => self.holder.user_id.as_str().to_owned(),
                    false => format!("person{}", count % 10),
                };
                *by_person.entry(format!("@{person}")).or_default() += 1;
                *by_person.entry("all".to_owned()).or_default() += 1;
                entries.push(serde_json::json!({
                    "key": format!("{}:{branch}:{path}", self.repo), "file_path": path, "branch": branch,
                    "user_id": person, "user_name": "Mona Lisa",
                    "agent_id": if is_callers { String::new() } else { format!("agent-{number}") },
                    "status": if *writes || is_elsewhere { "WRITING" } else { "READING" }, "agent_head": HEAD,
                    "message": state.message, "timestamp": state.expiry - 300, "expiry": state.expiry, "token": count,
                }));
            }
            // The blanks of `includes/changes.lua`, by the token of the first entry.
            let blanks = " ".repeat(entries[0]["token"].as_u64().map_or(0, |token| token as usize % 64));
            locks.extend([path.clone(), serde_json::Value::Array(entries).to_string() + &blanks]);
            expiries.extend([state.expiry.to_string(), path.clone()]);
        }
        let counts: Vec<String> = by_person
            .into_iter()
            .flat_map(|(field, count)| [field, count.to_string()])
            .collect();
        self.fill("HSET", &keys::locks(&self.repo), &locks).await;
        self.fill("ZADD", &keys::expiries(&self.repo), &expiries).await;
        self.fill("HSET", &keys::held(&self.repo), &counts).await;
    }

    async fn forget(&self) {
        for key in [
            keys::locks(&self.repo),
            keys::expiries(&self.repo),
            keys::held(&self.repo),
            keys::refusals(&self.repo),
            keys::releases(&self.repo),
        ] {
            self.store
                .run(vec![Request::command(["DEL", &key])])
                .await
                .expect("an answer");
        }
    }

    /// The adjacency, in the format of `includes/neighbors.lua`.
    async fn import(&self, imports: &[(String, String)]) {
        const MOST_LINES: usize = 512;
        let mut lines: BTreeMap<&str, Vec<(char, &str)>> = BTreeMap::new();
        for (from, to) in imports {
            lines.entry(from).or_default().push(('>', to));
            lines.entry(to).or_default().push(('<', from));
        }
        let is_hub = |path: &str| lines[path].len() > MOST_LINES;
        let text = |lines: &mut dyn Iterator<Item = &(char, &str)>| {
            lines.map(|(sign, path)| format!("{sign}{path}\n")).collect::<String>()
        };
        let mut fields = Vec::new();
        for (path, all) in &lines {
            if is_hub(path) {
                let chunks = all.chunks(MOST_LINES);
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
        self.fill("HSET", &keys::graph_adjacency(&self.repo, &self.branch), &fields)
            .await;
    }

    /// The outcome, in a word.
    async fn ask(&self, act: &Act) -> String {
        let known = std::slice::from_ref(&self.head);
        let entry = AdmissionTerms::of(&self.repo, &self.branch, &self.holder, Some(&self.head), known);
        let parse = |paths: &[String]| -> Vec<FilePath> {
            paths
                .iter()
                .map(|path| FilePath::parse(path).expect("a path"))
                .collect()
        };
        let message = LockReason::parse("Rework the session handling so that it uses tokens").expect("a message");
        match act {
            Act::Check(intent, paths) => {
                let paths = parse(paths);
                let answer = scripts::check_status(self.store, &entry, &paths, *intent, NeighborPolicy::Block).await;
                in_short(answer.expect("an answer"), |survey| {
                    format!("{} locks, {} more", survey.findings.len(), survey.omitted)
                })
            }
            Act::Claim(claim, paths) => {
                let wanted = Wanted {
                    claim: *claim,
                    policy: NeighborPolicy::Block,
                    agent_head: &self.head,
                    message: &message,
                    ttl_seconds: 300,
                    paths: &parse(paths),
                };
                let answer = scripts::claim(self.store, &entry, &wanted).await;
                in_short(answer.expect("an answer"), |outcome| word(&outcome))
            }
            Act::Abandon(_) | Act::Everything => {
                let paths = match act {
                    Act::Abandon(paths) => parse(paths),
                    _ => Vec::new(),
                };
                let release = Release {
                    new_head: None,
                    agent_head: &self.head,
                    // Locks for reading are released without a commit, and the importers are reported.
                    is_abandoned: matches!(act, Act::Abandon(_)),
                    message: &message,
                    paths: &paths,
                    can_ask: false,
                    judged: &[],
                };
                let answer = scripts::release(self.store, &entry, &release).await;
                in_short(answer.expect("an answer"), |outcome| match outcome {
                    ReleaseOutcome::Released(released) => format!("{} released", released.released.len()),
                    other => word(&other),
                })
            }
            Act::Sweep => {
                let swept = scripts::sweep(self.store, &self.repo, 500).await.expect("an answer");
                format!("{} expired", swept.expired)
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

fn in_short<T>(admitted: Admitted<T>, say: impl FnOnce(T) -> String) -> String {
    match admitted {
        Admitted::Answer(answer) => say(answer),
        Admitted::Denied(stop) => format!("{stop:?}"),
    }
}

/// Processor time of all threads of a process; none where the system does not report it.
fn processor_time(process: u32) -> Option<Duration> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let nanoseconds = threads.filter_map(|thread| {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Some(Duration::from_nanos(nanoseconds.sum()))
}

struct Measured {
    processor: Option<Duration>,
    median: Duration,
    longest: Duration,
    said: String,
}

async fn measure(store: &dyn Store, process: u32, number: usize, case: &Case, rounds: usize) -> Measured {
    let run = Run {
        store,
        repo: RepoId::parse(&format!("https://github.com/acme/case{number}")).expect("a repository"),
        branch: Branch::parse("main").expect("a branch"),
        holder: Holder {
            user_id: UserId::parse("ann").expect("a login"),
            user_name: "Ann".to_owned(),
            agent_id: None,
        },
        head: CommitSha::parse(HEAD).expect("a commit"),
    };
    run.import(&case.state.imports).await;
    let (mut times, mut processor, mut said) = (Vec::new(), Vec::new(), String::new());
    for round in 0..=rounds {
        if round == 0 || !matches!(case.act, Act::Check(..)) {
            run.forget().await;
            run.hold(&case.state).await;
        }
        if let Act::Abandon(paths) = &case.act {
            run.ask(&Act::Claim(LockMode::Writing, paths.clone())).await;
        }
        let (begin, before) = (Instant::now(), processor_time(process));
        said = run.ask(&case.act).await;
        // The first round loads the script.
        if round > 0 {
            times.push(begin.elapsed());
            processor.extend(before.and_then(|before| processor_time(process)?.checked_sub(before)));
        }
    }
    times.sort();
    processor.sort();
    Measured {
        processor: processor.get(processor.len() / 2).copied(),
        median: times[times.len() / 2],
        longest: times[times.len() - 1],
        said,
    }
}

/// A redis-server of its own, where it is installed.
struct Redis {
    process: Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Redis {
    fn start() -> Option<Redis> {
        let folder = tempfile::tempdir().ok()?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .ok()?
            .local_addr()
            .ok()?
            .port();
        let process = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--save", "", "--bind", "127.0.0.1"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .ok()?;
        for _ in 0..100 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(Redis {
            process,
            url: format!("redis://127.0.0.1:{port}"),
            _folder: folder,
        })
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // A failure means that it is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn option(name: &str) -> Option<String> {
    std::env::args().skip_while(|word| word != name).nth(1)
}

fn main() {
    let rounds = option("--rounds").and_then(|text| text.parse().ok()).unwrap_or(9);
    let only = option("--only").unwrap_or_default();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let redis = Redis::start();
    let folder = tempfile::tempdir().expect("a folder");
    runtime.block_on(async {
        let embedded = EmbeddedStore::open(&folder.path().join("store.redb")).expect("the store opens");
        let mut stores: Vec<(&str, u32, Arc<dyn Store>)> = Vec::new();
        match &redis {
            Some(redis) => {
                let store = RedisStore::connect(&redis.url).expect("redis-server answers");
                stores.push(("redis-server", redis.process.id(), Arc::new(store)));
            }
            None => eprintln!("skipped: redis-server is not installed"),
        }
        stores.push(("embedded", std::process::id(), Arc::new(embedded.clone())));
        println!("| case | store | processor ms | median ms | longest ms | answer |\n|---|---|---:|---:|---:|---|");
        for (number, case) in cases().iter().enumerate().filter(|(_, case)| case.name.contains(&only)) {
            for (name, process, store) in &stores {
                let measured = measure(&**store, *process, number, case, rounds).await;
                let ms = |time: Duration| format!("{:.0}", time.as_secs_f64() * 1000.0);
                println!(
                    "| {} | {name} | {} | {} | {} | {} |",
                    case.name,
                    measured.processor.map(ms).unwrap_or_default(),
                    ms(measured.median),
                    ms(measured.longest),
                    measured.said
                );
            }
        }
        embedded.close();
    });
}
