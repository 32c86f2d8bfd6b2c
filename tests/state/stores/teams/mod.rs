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

/// Asserts that a call is refused: with this sentence, or by this variant of `TeamRefusal`, perhaps with these fields.
macro_rules! assert_refused {
    ($call:expr => $sentence:literal) => {
        assert_eq!($call.await.unwrap_err().to_string(), $sentence)
    };
    ($call:expr => $refusal:ident) => {
        assert_refused!($call => $refusal { .. })
    };
    ($call:expr => $refusal:ident $fields:tt $(if $guard:expr)?) => {{
        let refusal = $call.await.unwrap_err();
        let is_expected = matches!(&refusal, coord_teams_state::teams::TeamRefusal::$refusal $fields $(if $guard)?);
        assert!(is_expected, "{refusal:?}");
    }};
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
