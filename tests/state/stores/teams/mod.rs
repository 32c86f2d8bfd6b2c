//! Teams: every outcome of their scripts ([`outcomes`] says which those are).

/// [`on_every_store!`] for these tests; and all of them in turn, with what the scripts answered.
macro_rules! scenarios {
    ($($test:ident),* $(,)?) => {
        on_every_store!($($test),*);

        /// Returns the outcomes of scripts in these tests.
        pub async fn outcomes() -> crate::watched::Outcomes {
            let mut outcomes = crate::watched::Outcomes::new();
            $(outcomes.extend(crate::world::World::on_embedded().run($test).await);)*
            outcomes
        }
    };
}

mod bytes;
mod claims;
mod contention;
mod costs;
mod departures;
mod expiries;
pub mod files;
mod files_contention;
mod free_files;
mod membership;
mod messages;
mod model;
mod outcomes;
mod policy;
mod refusals;
mod released_files;
mod scale;
mod task_lists;
mod tasks;
mod waiting;
