//! The most expensive requests within the limits: `cargo bench -p coord-cli --bench worst_cases`.
//!
//! A running script blocks all other requests, so none may take long, whatever a caller sends and whatever others hold. For
//! each case, on a redis-server and on the embedded store, this prints the milliseconds of the store's processor time
//! (Linux; median of the rounds, with the caller's for the embedded store), median and maximum of the wall time, and the
//! outcome. On a busy machine only the first can be compared. `-- --rounds N` (default: 9), `-- --only TEXT`: cases with the
//! text in their names.

mod cases;
mod run;
mod teams;

use std::sync::Arc;
use std::time::Duration;

use coord_store::Store;
use coord_store::redis::RedisStore;
use coord_test_support::embedded;
use coord_test_support::real_redis::RealRedis;

use crate::cases::cases;
use crate::run::{Measurement, measure};

fn option(name: &str) -> Option<String> {
    std::env::args().skip_while(|word| word != name).nth(1)
}

fn print(case: &str, store: &str, measured: &Measurement) {
    let ms = |time: Duration| format!("{:.0}", time.as_secs_f64() * 1000.0);
    println!(
        "| {case} | {store} | {} | {} | {} | {} |",
        measured.processor.map(ms).unwrap_or_default(),
        ms(measured.median),
        ms(measured.longest),
        measured.outcome
    );
}

fn main() {
    let rounds = option("--rounds").and_then(|text| text.parse().ok()).unwrap_or(9);
    let only = option("--only").unwrap_or_default();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let redis = RealRedis::start_if_installed(&[]);
    let folder = tempfile::tempdir().expect("a folder");
    coord_extensions::register_state();
    runtime.block_on(async {
        let embedded = embedded::open(&folder.path().join("store.redb"));
        let mut stores: Vec<(&str, u32, Arc<dyn Store>)> = Vec::new();
        match &redis {
            Some(redis) => {
                let store = RedisStore::connect(&redis.url()).expect("redis-server answers");
                stores.push(("redis-server", redis.id(), Arc::new(store)));
            }
            None => eprintln!("skipped: redis-server is not installed"),
        }
        stores.push(("embedded", std::process::id(), Arc::new(embedded.clone())));
        println!("| case | store | processor ms | median ms | longest ms | answer |\n|---|---|---:|---:|---:|---|");
        for (number, case) in cases().iter().enumerate().filter(|(_, case)| case.name.contains(&only)) {
            for (name, process, store) in &stores {
                print(
                    case.name,
                    name,
                    &measure(&**store, *process, number, case, rounds).await,
                );
            }
        }
        for case in teams::Case::ALL.into_iter().filter(|case| case.name().contains(&only)) {
            for (name, process, store) in &stores {
                let measured = teams::measure(&**store, *process, case, rounds).await;
                print(case.name(), name, &measured);
            }
        }
        embedded.close();
    });
}
