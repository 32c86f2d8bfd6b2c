//! Random programs of the scripts of teams on every kind of connection.

mod acts;
mod outcome;

use std::collections::BTreeSet;

use self::acts::{Act, beginning, step};
use self::outcome::outcome;
use super::programs::{Extent, programs_end_alike};

#[test]
fn random_programs_of_teams_end_alike_on_every_connection() {
    let extent = Extent {
        programs: 24,
        most_steps: 70,
    };
    let outcomes = programs_end_alike(extent, step(), &beginning(), async |world, (who, act)| {
        // Its name is one whatever the case.
        let team = if matches!(act, Act::Create(_)) {
            "Alpha"
        } else {
            "alpha"
        };
        outcome(&world.mate(who, team), act).await
    });
    let Some(outcomes) = outcomes else { return };
    let met: BTreeSet<&str> = outcomes.iter().map(|(_, outcome)| outcome.as_str()).collect();
    for wanted in [
        "CLAIMED",
        "COMPLETED",
        "CREATED",
        "READ",
        "RELEASED",
        "SENT",
        "UPDATED",
        "REFUSED CIRCULAR",
        "REFUSED TASK_TAKEN",
    ] {
        assert!(met.contains(wanted), "no {wanted} in {met:?}");
    }
}
