//! One act, done.

use coord_domain::LockMode::{Reading, Writing};
use coord_intents::intent::{Budget, Intent};
use coord_intents::ledger::{ActionType, ResultStatus};
use coord_intents_state::intents::{StoredIntent, WrittenIntent, write_intent};
use coord_intents_state::ledger::RecordedKind;
use coord_scopes::Scope;
use coord_sources::Reachable;
use coord_state::locks::ReleaseOutcome;

use super::acts::{Act, Recorded};
use crate::stores::ledger::{change, event};
use crate::world::{Agent, NEXT};

/// Does `act`, and returns its outcome as text.
pub async fn outcome(agent: Agent<'_>, act: &Act) -> String {
    let world = agent.world;
    let seen = agent.registry().await.version;
    match act {
        Act::Write {
            id,
            scope,
            branch,
            turns,
            is_new,
        } => {
            let intent = Intent {
                id: (*id).to_owned(),
                name: "Größe / \"it\"".to_owned(),
                owned_scope: vec![(*scope).to_owned()],
                branch: branch.map(str::to_owned),
                budget: turns.map(|turns| Budget {
                    max_turns: Some(turns),
                    max_tokens: Some(1_000),
                    ..Budget::default()
                }),
                ..Intent::default()
            };
            let digest = Scope::parse(&intent.owned_scope).unwrap().digest();
            let written = WrittenIntent {
                seen: (!is_new).then_some(seen.as_str()),
                stored: &StoredIntent {
                    intent,
                    created_by: agent.holder.user_id.as_str().to_owned(),
                    changed_by: None,
                },
                digest: &digest,
                is_for_holders: true,
                change: "Written: \"it\" / again",
                origin: agent.about.origin.as_str(),
                is_person: false,
            };
            format!("{:?}", write_intent(&*world.store, &agent.terms(), &written).await)
        }
        Act::Select { id, is_stale } => {
            let seen = if *is_stale { "0" } else { &seen };
            format!("{:?}", agent.selects_as(id, seen).await)
        }
        Act::Move {
            id,
            status,
            is_person,
            criteria,
        } => {
            format!("{:?}", agent.moves_as(id, *status, *is_person, *criteria, &seen).await)
        }
        Act::Allow { id, other } => format!("{:?}", agent.allows(id, other).await),
        Act::Take { id, file } => format!("{:?}", agent.takes(id, &[file]).await),
        Act::Use { id, call, tokens } => {
            format!("{:?}", agent.uses(id, *call, tokens.map(|tokens| ("s", tokens))).await)
        }
        Act::Claim {
            files,
            cited,
            call,
            is_writing,
            is_required,
            is_check,
        } => {
            let mut agent = agent.calling("Edit", call);
            agent.about.cited = cited.map(str::to_owned);
            agent.about.rules.is_required = *is_required;
            if call.is_empty() {
                agent.about.call = Default::default();
            }
            let mode = if *is_writing { Writing } else { Reading };
            if *is_check {
                format!("{:?}", agent.try_check(mode, files).await)
            } else {
                format!("{:?}", agent.try_claim(mode, files).await)
            }
        }
        Act::Release { files, is_push } => {
            let (new_head, reachable) = if *is_push {
                (Some(NEXT), Reachable::Yes)
            } else {
                (None, Reachable::Unknown)
            };
            let mut outcome = agent.release_or_abandon(new_head, reachable, !is_push, files).await;
            if let ReleaseOutcome::Released(released) = &mut outcome {
                // Seconds since then.
                released.again.iter_mut().for_each(|(_, seconds)| *seconds = 0);
            }
            format!("{outcome:?}")
        }
        Act::Record {
            cited,
            trace,
            recorded,
            is_reset,
        } => {
            let plain = |kind| event(trace, kind, ActionType::ToolExecution, ResultStatus::Success);
            let event = match recorded {
                Recorded::Change(file, hash) => change(trace, file, hash, None),
                Recorded::Prompt => plain(RecordedKind::Prompt),
                Recorded::End => plain(RecordedKind::End),
                Recorded::Other => plain(RecordedKind::Other(ResultStatus::Success)),
            };
            format!("{:?}", agent.try_record(*cited, *is_reset, &[event]).await)
        }
        Act::Policy(toml) => {
            world.store_policy(toml).await;
            String::new()
        }
        Act::Seal { most_lines } => {
            let seal = world.seals(*most_lines).await;
            format!("{} {}", seal.base.point.seq, seal.sealed.point.seq)
        }
    }
}
