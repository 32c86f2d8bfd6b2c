//! Cost of the local git source: `cargo bench -p coord-cli --bench git_source`.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use coord_domain::{Branch, CommitSha};
use coord_git::GitSource;
use coord_sources::{Blob, Source};
use coord_test_support::git::Repo;

const FILES: usize = 10_000;
const BRANCHES: usize = 50_000;

/// Text like source code, about 8 KB: lines repeat, numbers do not.
fn text(seed: usize) -> String {
    let mut text = String::new();
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

fn print(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)];
    println!("{what:<44} p50 {:>10.1?}  p99 {:>10.1?}", at(50), at(99));
}

async fn heads(source: &GitSource, what: &str, branch: &str) {
    let repo = source.repositories().remove(0);
    let branch = Branch::parse(branch).unwrap();
    let mut times = Vec::new();
    for _ in 0..20_000 {
        let start = Instant::now();
        let _ = std::hint::black_box(source.head(&repo, &branch).await);
        times.push(start.elapsed());
        // Slow operations need no more runs.
        if times.len() >= 50 && times[0] > Duration::from_millis(5) {
            break;
        }
    }
    print(what, &mut times);
}

async fn files(source: &GitSource, what: &str, head: &CommitSha) {
    let repo = source.repositories().remove(0);
    for _ in 0..3 {
        let start = Instant::now();
        let entries = source.tree(&repo, head).await.unwrap();
        let listed = start.elapsed();
        let bytes = Arc::new(AtomicU64::new(0));
        let sum = Arc::clone(&bytes);
        let blobs = entries.into_iter().map(|entry| entry.blob).collect();
        let sink = move |_, blob: Blob<'_>| {
            if let Blob::Content(content) = blob {
                sum.fetch_add(content.len() as u64, Ordering::Relaxed);
            }
        };
        let start = Instant::now();
        source.read_blobs(&repo, blobs, 1 << 20, Arc::new(sink)).await.unwrap();
        let took = start.elapsed();
        let megabytes = bytes.load(Ordering::Relaxed) as f64 / 1e6;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        println!(
            "{what:<20} tree {listed:>8.1?}  {FILES} blobs {megabytes:.0} MB in {took:>8.1?}: {:.0} MB/s, {:.0} per core",
            megabytes / took.as_secs_f64(),
            megabytes / took.as_secs_f64() / cores as f64
        );
    }
}

#[tokio::main]
async fn main() {
    let temp = tempfile::tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let names: Vec<String> = (0..FILES)
        .map(|n| format!("packages/p{}/src/file{n}.ts", n % 97))
        .collect();
    let texts: Vec<String> = (0..FILES).map(text).collect();
    let all: Vec<(&str, &str)> = names
        .iter()
        .zip(&texts)
        .map(|(n, t)| (n.as_str(), t.as_str()))
        .collect();
    let first = repo.commit(&all);
    for (round, name) in names.iter().take(200).enumerate() {
        repo.commit(&[(name, &text(FILES + round))]);
    }
    let head = CommitSha::parse(&repo.git(&["rev-parse", "HEAD"])).unwrap();
    let first = CommitSha::parse(&first).unwrap();

    let source = GitSource::open(&[repo.path().to_owned()]).unwrap();
    let id = source.repositories().remove(0);
    heads(&source, "head, loose", "main").await;
    files(&source, "loose objects", &head).await;

    let start = Instant::now();
    source.is_ancestor(&id, &first, &head).await.unwrap();
    println!("is_ancestor over 200 commits, cold            {:?}", start.elapsed());
    let start = Instant::now();
    source.is_ancestor(&id, &head, &first).await.unwrap();
    println!("is_ancestor over 200 commits, No, cold        {:?}", start.elapsed());
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..20_000 {
        let start = Instant::now();
        source.is_ancestor(&id, &first, &head).await.unwrap();
        times.push(start.elapsed());
    }
    print("is_ancestor, remembered", &mut times);
    let missing = CommitSha::parse(&"1".repeat(40)).unwrap();
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..2_000 {
        let start = Instant::now();
        source.is_ancestor(&id, &missing, &head).await.unwrap();
        times.push(start.elapsed());
    }
    print("is_ancestor, missing commit", &mut times);

    repo.git(&["gc", "--quiet"]);
    files(&source, "packed objects", &head).await;
    let mut packed = "# pack-refs with: peeled fully-peeled sorted \n".to_owned();
    for number in 0..BRANCHES {
        let _ = writeln!(packed, "{head} refs/heads/topic/{number:05}");
    }
    std::fs::write(repo.path().join(".git/packed-refs"), packed).unwrap();
    heads(&source, "head, one of 50,000 packed", "topic/31337").await;
    heads(&source, "head, missing among 50,000, with near names", "topic/500000").await;
}
