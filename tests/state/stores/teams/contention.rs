//! 64 clients ask for the next of 1,000 tasks at once.

use std::collections::BTreeMap;

use coord_teams_state::tasks::TaskClaim;
use parking_lot::Mutex;

use crate::world::World;
use crate::world::team::titled;

async fn each_of_1000_tasks_goes_to_one_of_64_clients(world: World) {
    let (lead, []) = world.team_of([]).await;
    for _ in 0..5 {
        lead.adds(&vec![titled("a"); 200]).await.unwrap();
    }
    let taken: Mutex<BTreeMap<String, usize>> = Mutex::default();
    let work = (0..64).map(|number| {
        let (world, taken) = (&world, &taken);
        async move {
            let name = format!("w{number}");
            let mate = world.mate(&name, "alpha");
            mate.joins(&name).await.unwrap();
            while let TaskClaim::Claimed(claimed) = mate.takes_next().await.unwrap() {
                let id = claimed.task.task.id;
                *taken.lock().entry(id.clone()).or_default() += 1;
                mate.completes(&id).await.unwrap();
            }
        }
    });
    futures::future::join_all(work).await;
    let taken = taken.into_inner();
    assert_eq!((taken.len(), taken.values().max()), (1000, Some(&1)));
}

on_every_store!(each_of_1000_tasks_goes_to_one_of_64_clients);
