//! A disk that gives errors. `strace` answers system calls on the file of the store with EIO, and the disk is not asked: what
//! the process is told is what the kernel tells it of a bad disk. The file keeps what was written before, so what a failed
//! sync loses is left to `lib/embedded/src/tests/faults.rs`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::soak::{ROUNDS, Round, pause};
use coord_test_support::embedded;
use coord_test_support::process::{Coord, ServerFolder};

/// System calls that read and write a store.
const CALLS: [&str; 3] = ["fdatasync", "pread64", "pwrite64"];

/// Which calls fail in the lives of a server, one after the other, by the number that `strace` gives them in each thread. The first
/// ones open the store, and are spared. In the first life, nothing can be written for good. The file is read where it is opened
/// again after an error.
const LIVES: [&[&str]; 4] = [
    &["fdatasync,pwrite64:error=EIO:when=60+"],
    &["fdatasync:error=EIO:when=20+5", "pread64:error=EIO:when=250+31"],
    &["pwrite64:error=EIO:when=90+53"],
    &["fdatasync:error=EIO:when=30+11"],
];

/// Starts a server whose calls fail so. Its calls and their results are written to `trace`.
fn serve_on_bad_disk(place: &ServerFolder, failing: &[&str], trace: &Path) -> Coord {
    let failing: String = failing.iter().map(|calls| format!(" -e inject={calls}")).collect();
    place.serve_after(&format!(
        "exec strace -D -f -qq --seccomp-bpf -o '{}' -P '{}' -e trace={}{failing} \"$0\" \"$@\"",
        trace.display(),
        place.data().join("store.redb").display(),
        CALLS.join(","),
    ))
}

/// kill -9, or SIGTERM, which ends it as well, whatever its disk does.
async fn end(mut server: Coord, is_killed: bool) {
    let ending = tokio::task::spawn_blocking(move || {
        if is_killed {
            return server.kill();
        }
        server.terminate();
        let status = server.wait();
        assert!(status.success(), "it can be stopped: {status}");
    });
    ending.await.expect("it ended");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a minute: cargo test --test cli soak:: -- --ignored"]
async fn a_disk_that_gives_errors_and_a_server_that_is_killed_lose_nothing() {
    let strace = Command::new("strace").arg("-V").output();
    assert!(strace.is_ok(), "this test needs strace");
    let mut errors: BTreeMap<&str, usize> = BTreeMap::new();
    for number in 0..ROUNDS {
        let mut random = fastrand::Rng::with_seed(number);
        let place = ServerFolder::new(crate::COORD);
        let trace = place.folder.path().join("trace");
        let mut server = place.serve();
        let mut round = Round::start(&place, server.address, number);
        let mut lives = LIVES.iter().cycle().enumerate();
        while round.is_under_way() {
            pause(random.u64(100..600)).await;
            end(server, random.bool()).await;
            let (life, failing) = lives.next().expect("it goes round");
            server = serve_on_bad_disk(&place, failing, &trace);
            round.moves_to(&server);
            if life % LIVES.len() == 0 {
                round.reads_without_writing(&server).await;
                round.becomes_faulty(false);
            }
            pause(random.u64(500..2000)).await;
            end(server, random.bool()).await;
            let calls = std::fs::read_to_string(&trace).expect("what it was told");
            for line in calls.lines().filter(|line| line.ends_with("(INJECTED)")) {
                let call = CALLS.into_iter().find(|call| line.contains(call)).expect("one of them");
                *errors.entry(call).or_default() += 1;
            }
            server = place.serve();
            round.moves_to(&server);
        }
        round.ends(&server).await;
        end(server, false).await;
        let store = embedded::open(&place.data().join("store.redb"));
        let name = format!("disk that gives errors, round {number}");
        round.has_lost_nothing(&name, &store).await;
    }
    println!("errors: {errors:?}");
    assert!(CALLS.iter().all(|call| errors.contains_key(call)), "{errors:?}");
}
