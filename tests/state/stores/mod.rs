//! Every outcome of every script, on every connection to a store, by one suite.

/// Runs each of these tests, functions of a [`world::World`], on every connection.
macro_rules! on_every_store {
    ($($test:ident),* $(,)?) => {
        mod on_redis {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $test() {
                    if let Some(world) = crate::world::World::on_redis() {
                        world.run(super::$test).await;
                    }
                }
            )*
        }

        mod on_embedded {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $test() {
                    crate::world::World::on_embedded().run(super::$test).await;
                }
            )*
        }

        mod on_upstash {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $test() {
                    if let Some(world) = crate::world::World::on_upstash().await {
                        world.run(super::$test).await;
                    }
                }
            )*
        }
    };
}

mod abandon;
mod admission;
mod ages;
mod blocking;
mod bounds;
mod builds;
mod check;
mod claim;
mod command_counts;
mod due;
mod due_marks;
mod events;
mod expiry;
mod force;
mod free_files;
mod gate;
mod graph_ages;
mod heads;
mod intents;
mod interfaces;
pub mod ledger;
mod limits;
mod modules;
mod neighbors;
mod patches;
mod pending;
mod policy;
mod pushes;
mod queue;
mod release;
mod release_again;
mod repeated;
mod request_costs;
mod scale;
mod shares;
mod spelling;
mod teams;
mod upgrade;
mod uses;
