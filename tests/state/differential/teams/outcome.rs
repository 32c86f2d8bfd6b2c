//! One act in a team, done.

use coord_protocol::team_event::MessageType;
use coord_teams_state::messages::MessageFilter;
use coord_teams_state::tasks::{NewTask, TaskChanges, TaskFilter, TaskReference};
use coord_teams_state::teams::RequestKey;

use super::acts::Act;
use crate::world::team::{Mate, task_id, titled};

fn id(number: u32) -> String {
    format!("t{number}")
}

fn named(numbers: &[u32]) -> Vec<TaskReference> {
    numbers
        .iter()
        .map(|number| TaskReference::Task(task_id(&id(*number))))
        .collect()
}

/// Does `act`, and returns its outcome as text.
pub async fn outcome(mate: &Mate<'_>, act: &Act) -> String {
    let key = |key: &'static str, content| match key {
        "" => RequestKey::NONE,
        key => RequestKey { key, content },
    };
    match act {
        Act::Create(handle) => format!("{:?}", mate.creates(handle).await),
        Act::Join { handle } => format!("{:?}", mate.joins(handle).await),
        Act::Leave => format!("{:?}", mate.leaves().await),
        Act::HandOver(to) => format!("{:?}", mate.hands_over(to).await),
        Act::Add {
            key: of,
            tasks,
            is_chain,
        } => {
            let mut new = Vec::new();
            for (place, (priority, dependencies, blocks)) in tasks.iter().enumerate() {
                let mut task = NewTask {
                    priority: *priority,
                    description: "What to do: \"größer\" / \u{1f600}".to_owned(),
                    dependencies: named(dependencies),
                    blocks: named(blocks),
                    ..titled("A \"task\" / größer")
                };
                if *is_chain && place > 0 {
                    task.dependencies.push(TaskReference::New(place - 1));
                }
                new.push(task);
            }
            format!("{:?}", mate.adds_with_key(key(of, "tasks"), &new).await)
        }
        Act::Update {
            task,
            dependencies,
            blocks,
            status,
            note,
            clear_lapses,
        } => {
            let ids = |list: &Option<Vec<u32>>| {
                let list = list.as_ref()?;
                Some(list.iter().map(|number| task_id(&id(*number))).collect())
            };
            let changes = TaskChanges {
                dependencies: ids(dependencies),
                blocks: ids(blocks),
                status: *status,
                note: (*note).to_owned(),
                clear_lapses: *clear_lapses,
                ..TaskChanges::default()
            };
            format!("{:?}", mate.updates(&id(*task), &changes).await)
        }
        Act::Claim(task) => format!("{:?}", mate.claims(&id(*task)).await),
        Act::Next(of) => format!("{:?}", mate.takes_next_with_key(key(of, "next")).await),
        Act::Complete { task, token } => {
            format!("{:?}", mate.completes_with(&id(*task), *token, "it \"works\"").await)
        }
        Act::Release { task, note } => format!("{:?}", mate.releases(&id(*task), note).await),
        Act::Assign { task, to } => format!("{:?}", mate.assigns(&id(*task), *to).await),
        Act::Delete { task, is_unlinked } => format!("{:?}", mate.deletes(&id(*task), *is_unlinked).await),
        Act::Lapse(task) => {
            let shown = mate.shows(&id(*task)).await;
            let is_claimed =
                shown.is_ok_and(|shown| shown.task.record.owner.is_some() && shown.task.record.completed.is_none());
            if is_claimed {
                mate.expire_claim(&id(*task)).await;
            }
            format!("{is_claimed}")
        }
        Act::Send { key: of, kind, to } => {
            let to = if *kind == MessageType::Idle { &[] } else { &to[..] };
            format!(
                "{:?}",
                mate.sends(*kind, to, "Größer \"still\" / \u{1f600}", key(of, "message"))
                    .await
            )
        }
        Act::Read { cursor, most } => format!("{:?}", mate.reads_most(*cursor, *most).await),
        Act::RequestShutdown { target, seconds } => {
            format!("{:?}", mate.requests_shutdown(*target, *seconds).await)
        }
        Act::AnswerShutdown { number, reason } => {
            format!("{:?}", mate.answers_shutdown(&format!("s{number}"), *reason).await)
        }
        Act::ForceShutdown(number) => format!("{:?}", mate.forces_shutdown(&format!("s{number}")).await),
        Act::Look => {
            let history = mate.history(5, &MessageFilter::default()).await.map(|mut page| {
                // A hash has no order.
                page.readers.sort_by(|one, other| one.handle.cmp(&other.handle));
                page
            });
            let listed = mate.lists(0, 100, &TaskFilter::default()).await;
            format!("{:?} {listed:?} {history:?}", mate.shows_team().await)
        }
    }
}
