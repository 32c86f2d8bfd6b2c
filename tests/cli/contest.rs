//! `cargo bench --bench contest`: the queue costs little, and gives the claims of many files their turn.

use clap::Parser;

use coord_test_worlds::contest::run::{Habit, Rules, Run};
use coord_test_worlds::contest::{Options, contest};

#[tokio::test]
async fn a_run_is_the_same_each_time_and_about_something() {
    let patience = 180;
    for (habit, rules) in [
        (Habit::GoesElsewhere, Rules::Queue { patience }),
        (Habit::Insists, Rules::Queue { patience: 10 }),
    ] {
        let play = async || Run::new(7, 6, 12, habit, rules).unwrap().play().await.unwrap();
        let (one, two) = (play().await, play().await);
        assert_eq!((one.files, one.claims, &one.waits), (two.files, two.claims, &two.waits));
        assert!(
            one.files > 100 && one.large_claims > 5,
            "{} {}",
            one.files,
            one.large_claims
        );
        assert_eq!(one.held_back > 100, habit == Habit::Insists, "{}", one.held_back);
    }
}

/// By `.ci/run`.
#[tokio::test]
#[ignore = "it plays many hours"]
async fn the_queue_grants_nearly_as_much_as_none_and_shortens_the_longest_wait() {
    let options = Options::parse_from(["contest", "--runs", "16"]);
    println!("{}", contest(&options).await.unwrap());
}
