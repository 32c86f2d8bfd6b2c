//! Random programs of the scripts of intents, claims and the ledger, on every kind of connection.

mod acts;
mod outcome;

use self::acts::{PERSON, beginning, step};
use self::outcome::outcome;
use super::programs::{Extent, programs_end_alike};

#[test]
fn random_programs_of_intents_claims_and_the_ledger_end_alike_on_every_connection() {
    let extent = Extent {
        programs: 12,
        most_steps: 60,
    };
    programs_end_alike(extent, step(), &beginning(), async |world, (who, branch, act)| {
        let who = if act.is_a_persons() { PERSON } else { who };
        outcome(world.agent(who).on_branch(branch), act).await
    });
}
