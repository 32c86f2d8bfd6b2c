//! Members race for tasks with files in common.

use std::collections::BTreeSet;

use coord_teams_state::tasks::{ClaimedTask, NewTask, TaskClaim};
use parking_lot::Mutex;

use crate::world::World;
use crate::world::team::{claimed, titled};

/// 24 tasks over 8 files, each with 1 to 3 of them. A task is out from its claim until just before it ends.
// rule: teams#files-claimed
async fn two_tasks_with_a_common_file_are_never_out_at_once(world: World) {
    let names: Vec<String> = (0..8).map(|number| format!("w{number}")).collect();
    let (lead, []) = world.team_of([]).await;
    let file = |number: usize| format!("src/{}.ts", number % 8);
    let tasks: Vec<NewTask> = (0..24)
        .map(|number| NewTask {
            files: (0..=number % 3).map(|step| file(number + step * 2)).collect(),
            ..titled(&format!("{number}"))
        })
        .collect();
    lead.adds(&tasks).await.unwrap();
    let (out, done_tasks): (Mutex<BTreeSet<String>>, Mutex<BTreeSet<String>>) = Default::default();
    let work = names.iter().map(|name| {
        let (world, out, done_tasks) = (&world, &out, &done_tasks);
        async move {
            let worker = world.worker(name);
            worker.mate.joins(name).await.unwrap();
            while done_tasks.lock().len() < 24 {
                let claim = worker.next_except(&[]).await.unwrap();
                if matches!(claim, TaskClaim::Nothing(_)) {
                    tokio::task::yield_now().await;
                    continue;
                }
                let ClaimedTask { task, files, .. } = claimed(claim);
                let (id, wanted) = (task.task.id, task.task.record.files);
                assert_eq!(files.unwrap().own.len(), wanted.len(), "all files of {id}");
                for path in &wanted {
                    assert!(out.lock().insert(path.clone()), "{path} is out twice");
                }
                for path in &wanted {
                    assert_eq!(world.stored(path).await.len(), 1);
                }
                for path in &wanted {
                    out.lock().remove(path);
                }
                worker.completes_pushed(&id).await;
                assert!(done_tasks.lock().insert(id));
            }
        }
    });
    futures::future::join_all(work).await;
    for number in 0..8 {
        assert_eq!(world.stored(&file(number)).await, []);
    }
    world.assert_held_is_exact().await;
    world.assert_index_is_exact().await;
}

on_every_store!(two_tasks_with_a_common_file_are_never_out_at_once);
