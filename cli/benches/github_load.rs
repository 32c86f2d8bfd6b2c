//! Cost of a cold load from GitHub, compared with unpacking the same archive: `cargo bench -p coord-cli --bench
//! github_load`.
//!
//! The fake GitHub and each load run in separate processes, so that a memory peak is that of the load alone.

use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use coord_builds::build::build;
use coord_domain::{Branch, RepoId};
use coord_graph::{Limits, Previous};
use coord_sources::github::{ApiBase, Credential, GithubConfig, GithubSource};
use coord_sources::{Blob, Source};
use coord_test_support::git::Repo;
use coord_test_support::github::{Fake, NAME, OWNER};

const FILES: usize = 10_000;
const ROUNDS: usize = 3;

/// Text like source code, about 8 KB: lines repeat, numbers do not.
fn text(seed: usize) -> String {
    let mut text = format!("import './file{}';\n", (seed + 97) % FILES);
    let mut state = seed as u64 + 1;
    for line in 0..160 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let _ = writeln!(
            text,
            "export const value{line} = compute({}, \"{:x}\");",
            state >> 40,
            state >> 20
        );
    }
    text
}

/// Starts this program in another role.
fn again(arguments: &[&str]) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    line.trim().to_owned()
}

/// Serves the fake GitHub until the process is killed.
async fn serve(repo: &str, archive: &str) {
    let fake = Fake::serve(Path::new(repo)).await;
    fake.behave(|behavior| behavior.archive = Some(std::fs::read(archive).unwrap()));
    println!("{}", fake.api());
    std::future::pending::<()>().await;
}

/// Peak of resident memory, in MiB; 0 where the system does not report it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) / 1024
}

/// Runs one cold load and prints its cost.
async fn load(api: &str, what: &str) {
    let before = peak();
    let source = GithubSource::new(GithubConfig::new(ApiBase::parse(api).unwrap(), Credential::Nobody)).unwrap();
    let repo = RepoId::parse(&format!("https://127.0.0.1/{OWNER}/{NAME}")).unwrap();
    let started = Instant::now();
    let head = source.head(&repo, &Branch::parse("main").unwrap()).await.unwrap();
    let bytes = Arc::new(AtomicU64::new(0));
    let listed;
    if what == "graph" {
        let snapshot = build(
            &source,
            &repo,
            &head,
            Previous::Nothing,
            Limits::default(),
            Arc::new(|_| ()),
        )
        .await
        .unwrap();
        listed = Duration::ZERO;
        assert_eq!(snapshot.graph().len(), FILES);
    } else {
        let entries = source.tree(&repo, &head).await.unwrap();
        listed = started.elapsed();
        let sum = Arc::clone(&bytes);
        let sink = move |_, blob: Blob<'_>| {
            if let Blob::Content(content) = blob {
                sum.fetch_add(content.len() as u64, Ordering::Relaxed);
            }
        };
        let blobs = entries.into_iter().map(|entry| entry.blob).collect();
        source.read_blobs(&repo, blobs, 4 << 20, Arc::new(sink)).await.unwrap();
    }
    println!(
        "{what:<8} {:>8.2?} (head and tree {:>6.0?})  peak {:>4} MiB (at the start {before})  {:>4.0} MB read  {:?}",
        started.elapsed(),
        listed,
        peak(),
        bytes.load(Ordering::Relaxed) as f64 / 1e6,
        source.requests()
    );
}

fn compare() {
    let temp = tempfile::tempdir().unwrap();
    let repo = Repo::init(temp.path().join("repo"), &[]);
    let names: Vec<String> = (0..FILES)
        .map(|number| format!("packages/p{}/src/file{number}.ts", number % 97))
        .collect();
    let texts: Vec<String> = (0..FILES).map(text).collect();
    let all: Vec<(&str, &str)> = names
        .iter()
        .zip(&texts)
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    repo.commit(&all);
    repo.git(&["gc", "--quiet"]);
    let archive = temp.path().join("archive.tar.gz");
    let archive = archive.to_str().unwrap();
    repo.git(&[
        "archive",
        "--format=tar.gz",
        "--prefix=acme-widgets-1234567/",
        "-o",
        archive,
        "HEAD",
    ]);
    let size = std::fs::metadata(archive).unwrap().len() as f64 / 1e6;
    println!("{FILES} files, an archive of {size:.1} MB; {ROUNDS} rounds");
    let mut fake = again(&["serve", repo.path().to_str().unwrap(), archive]);
    let api = first_line(&mut fake);
    for what in ["contents", "graph"] {
        for _ in 0..ROUNDS {
            println!("{}", first_line(&mut again(&["load", &api, what])));
        }
    }
    for round in 0..ROUNDS {
        let folder = temp.path().join(format!("unpacked{round}"));
        std::fs::create_dir(&folder).unwrap();
        let started = Instant::now();
        let status = Command::new("tar")
            .args(["-xzf", archive, "-C"])
            .arg(folder)
            .status()
            .unwrap();
        assert!(status.success());
        println!("tar -xzf {:>8.2?}", started.elapsed());
    }
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let status = Command::new("tar")
            .args(["-tzf", archive])
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
        println!("tar -tzf {:>8.2?} (unpacks, and writes nothing)", started.elapsed());
    }
    fake.kill().unwrap();
    fake.wait().unwrap();
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    match words.as_slice() {
        ["serve", repo, archive] => runtime.block_on(serve(repo, archive)),
        ["load", api, what] => runtime.block_on(load(api, what)),
        _ => compare(),
    }
}
