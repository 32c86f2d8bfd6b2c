//! Cost of a script on the embedded store: `cargo bench -p coord-cli --bench embedded`.
//!
//! Prints microseconds per script: for one that only reads (six fields of a hash, two of them decoded from JSON), and for
//! one that writes, alone and among 64 writers. The file is in the folder named by `COORD_BENCH_DIR` (default: a temporary
//! one). A write waits for the disk, so its time is that of the disk.

use coord_embedded::EmbeddedStore;
use coord_store::{Request, Store, Value};
use std::time::{Duration, Instant};

const READ: &str = "local values = redis.call('HMGET', KEYS[1], unpack(ARGV))
    local count = 0
    for i = 1, 2 do
        for _, entry in ipairs(cjson.decode(values[i])) do
            if entry.status == 'WRITING' then count = count + 1 end
        end
    end
    return {'OK', count, values[3]}";

const FETCH: &str = "return redis.call('HMGET', KEYS[1], unpack(ARGV))";

const WRITE: &str = "local entries = cjson.decode(redis.call('HGET', KEYS[1], ARGV[1]))
    entries[1].timestamp = entries[1].timestamp + 1
    redis.call('HSET', KEYS[1], ARGV[1], cjson.encode(entries))
    return redis.call('INCR', KEYS[2])";

const ENTRY: &str = r#"[{"key":"main:src/auth.ts","file_path":"src/auth.ts","user_id":"octocat","user_name":"Mona Lisa","status":"WRITING","agent_head":"0123456789abcdef0123456789abcdef01234567","message":"Rework the session handling","timestamp":1700000000,"expiry":1700000300,"branch":"main","agent_id":"agent-1","token":17}]"#;

fn command(words: &[&str]) -> Vec<Request> {
    vec![Request::Command(
        words.iter().map(|word| word.as_bytes().to_vec()).collect(),
    )]
}

async fn ask(store: &EmbeddedStore, words: &[&str]) -> Value {
    store.run(command(words)).await.expect("an answer").remove(0)
}

/// Runs `source` repeatedly for `duration` and returns the time of one run.
async fn time(store: &EmbeddedStore, source: &str, keys: &[&str], arguments: &[&str], duration: Duration) -> Duration {
    let Value::Bulk(sha) = ask(store, &["SCRIPT", "LOAD", source]).await else {
        panic!("the script does not load")
    };
    let sha = String::from_utf8(sha).expect("a hash");
    let count = keys.len().to_string();
    let words = [&["EVALSHA", &sha, &count][..], keys, arguments].concat();
    let begin = Instant::now();
    let mut runs = 0;
    while begin.elapsed() < duration {
        for _ in 0..16 {
            let answer = ask(store, &words).await;
            assert!(!matches!(answer, Value::Error(_)), "{answer:?}");
            runs += 1;
        }
    }
    begin.elapsed() / runs
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = std::env::var_os("COORD_BENCH_DIR").map_or_else(|| temporary.path().to_owned(), Into::into);
    let file = folder.join("bench.redb");
    runtime.block_on(async {
        let store = EmbeddedStore::open(&file).expect("the store opens");
        for file in 0..10_000 {
            let field = format!("src/file{file}.ts");
            let words = command(&["HSET", "locks", &field, ENTRY]);
            if file % 1000 == 999 {
                store.run(words).await.expect("an answer");
            } else {
                let store = store.clone();
                tokio::spawn(async move { store.run(words).await.expect("an answer") });
            }
        }
        let fields = [
            "src/file17.ts",
            "src/file4711.ts",
            "src/file9000.ts",
            "none1",
            "none2",
            "none3",
        ];
        let second = Duration::from_secs(2);
        let nothing = time(&store, "return 1", &[], &[], second).await;
        let fetch = time(&store, FETCH, &["locks"], &fields, second).await;
        let read = time(&store, READ, &["locks"], &fields, second).await;
        let write = time(&store, WRITE, &["locks", "count"], &["src/file17.ts"], second).await;
        println!("return 1:                           {:>9.1} us", micros(nothing));
        println!("HMGET of six fields:                {:>9.1} us", micros(fetch));
        println!("HMGET of six, two decoded:          {:>9.1} us", micros(read));
        println!("write, alone:                       {:>9.1} us", micros(write));

        let before = store.stats();
        let begin = Instant::now();
        let writers = (0..64).map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let field = format!("src/file{writer}.ts");
                time(&store, WRITE, &["locks", "count"], &[&field], second * 2).await
            })
        });
        for writer in futures::future::join_all(writers).await {
            writer.expect("a writer");
        }
        let (elapsed, after) = (begin.elapsed(), store.stats());
        let scripts = after.scripts - before.scripts;
        println!(
            "64 writers: {:.0} scripts/s, {:.1} us each, {:.1} scripts a commit",
            scripts as f64 / elapsed.as_secs_f64(),
            micros(elapsed) / scripts as f64,
            scripts as f64 / (after.commits - before.commits) as f64
        );
        store.close();
    });
    if std::env::var_os("COORD_BENCH_DIR").is_some() {
        std::fs::remove_file(&file).expect("the file goes");
    }
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
