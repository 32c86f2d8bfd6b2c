//! Cost of the ledger: `cargo bench -p coord-intents --bench ledger`.
//!
//! Sealing 10,000 lines, which are in memory; then verifying a file of 1,000,000 lines beside `sha256sum` of the same file, in
//! turns, so that both see the same machine. Each verification is a separate process, which reports its peak memory.
//! `COORD_BENCH_LINES` is another number of lines.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::process::Command;
use std::time::{Duration, Instant};

use coord_intents::ledger::{
    ActionType, Anchor, ContentHash, Event, Expectations, Metadata, Outcome, Payload, Point, ResultStatus, Sealer,
    Source, State, Timestamp, ToolInput, TraceId, verify,
};

const REPOSITORY: &str = "github.com/acme/shop";
const SEALED: u64 = 10_000;
const ROUNDS: usize = 5;

/// A line as the hook records a write.
fn line(number: u64) -> String {
    let path = format!("packages/p{}/src/file{number}.ts", number % 40);
    let event = Event {
        action_type: ActionType::ToolExecution,
        payload: Payload {
            tool_name: Some("Write".to_owned()),
            hash: Some(ContentHash::of(path.as_bytes())),
            target_files: vec![path.clone()],
            ..Payload::default()
        },
        result: Outcome {
            status: ResultStatus::Success,
            output_summary: format!("Wrote {path}"),
            error_message: None,
        },
        metadata: Metadata {
            session_id: "0b5f1f2e-6a55-4c0e-9a61-0d2b7c3e4f10".to_owned(),
            contributor: "anthropic/claude-opus-4-5".to_owned(),
            mutation_class: None,
        },
        trace_id: TraceId::parse(&format!("018f6a1d-0000-7000-8000-{number:012}")).expect("an id"),
    };
    let time = Timestamp::from_millis(1_795_338_000_000 + number);
    let prepared = event.prepare(Some("claude-1")).expect("a short line");
    let intent = Some("018f6a1c-7a52-7cc3-9a61-0d2b7c3e4f10");
    let line = prepared.join(time, "ada", intent, State::Action).expect("a short line");
    line.as_str().to_owned()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, mode, path, point] = &arguments[..]
        && mode == "verify"
    {
        return verify_file(path, point.parse().expect("a point"));
    }
    record_input();
    seal_lines();
    let count = std::env::var("COORD_BENCH_LINES").map_or(1_000_000, |lines| lines.parse().expect("a number"));
    let file = std::env::temp_dir().join(format!("coord-ledger-{}.jsonl", std::process::id()));
    let path = file.to_str().expect("a path in UTF-8");
    let point = write_ledger(path, count);
    compare(path, &point, count);
    std::fs::remove_file(&file).expect("the file is removed");
}

/// A hook is a process for each call, so that its first is the one that counts.
fn record_input() {
    let input = serde_json::json!({ "file_path": "src/db.ts", "content": "export const pool = 8\n".repeat(2000) });
    let command =
        serde_json::json!({ "command": "curl -H 'Authorization: Bearer 0123456789abcdef' https://a:b@c.dev?token=1" });
    for (name, input) in [
        ("recording a tool's input", &input),
        ("with credentials, first time", &command),
        ("with credentials, again", &command),
    ] {
        let started = Instant::now();
        black_box(ToolInput::record(input));
        println!("{name:<44}{:>9.1?}", started.elapsed());
    }
}

fn seal_lines() {
    let lines: Vec<String> = (0..SEALED).map(line).collect();
    let times = (0..21).map(|_| {
        let started = Instant::now();
        let mut sealer = Sealer::after(Point::start(REPOSITORY));
        let mut out = Vec::new();
        for line in &lines {
            sealer.append(&mut out, line).expect("a line");
        }
        black_box(out);
        started.elapsed()
    });
    println!(
        "{:<44}{:>9.1?}",
        format!("sealing {SEALED} lines"),
        median(times.collect())
    );
}

fn write_ledger(path: &str, count: u64) -> Point {
    let mut file = BufWriter::new(File::create(path).expect("a file"));
    let mut sealer = Sealer::after(Point::start(REPOSITORY));
    let mut sealed = Vec::new();
    for number in 0..count {
        sealed.clear();
        sealer.append(&mut sealed, &line(number)).expect("a line");
        file.write_all(&sealed).expect("room on the disk");
    }
    file.flush().expect("room on the disk");
    sealer.point()
}

fn compare(path: &str, point: &Point, count: u64) {
    let bytes = std::fs::metadata(path).expect("the file").len();
    println!(
        "{:<44}{:>9} MB, {} bytes a line",
        format!("{count} lines"),
        bytes / 1_000_000,
        bytes / count
    );
    let program = std::env::current_exe().expect("this program");
    let (mut hashing, mut verifying, mut memory) = (Vec::new(), Vec::new(), 0);
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let output = Command::new("sha256sum").arg(path).output().expect("sha256sum");
        assert!(output.status.success());
        hashing.push(started.elapsed());
        let started = Instant::now();
        let output = Command::new(&program)
            .args(["verify", path, &point.to_string()])
            .output();
        let output = output.expect("this program again");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        verifying.push(started.elapsed());
        memory = memory.max(String::from_utf8_lossy(&output.stdout).trim().parse().unwrap_or(0));
    }
    let (hashing, verifying) = (median(hashing), median(verifying));
    println!("{:<44}{hashing:>9.1?}", "sha256sum");
    println!(
        "{:<44}{verifying:>9.1?}, {:.2} times sha256sum",
        "verify",
        verifying.as_secs_f64() / hashing.as_secs_f64()
    );
    println!("{:<44}{memory:>9} kB", "peak memory of verify");
}

fn verify_file(path: &str, point: Point) {
    let expected = Expectations {
        anchors: vec![Anchor {
            point,
            source: Source::Seal,
        }],
        ..Expectations::chain_of(REPOSITORY)
    };
    let report = verify(File::open(path).expect("the file"), &expected).expect("a file that can be read");
    assert_eq!((report.damage, report.end), (None, point));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    println!("{}", peak.map_or("0", |peak| peak.trim().trim_end_matches(" kB")));
}
