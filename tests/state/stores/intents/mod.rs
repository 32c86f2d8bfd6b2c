//! The registry of intents: every outcome of its scripts.

mod costs;
mod room;

use std::collections::BTreeMap;

use coord_domain::FilePath;
use coord_intents::intent::{Budget, Intent, Status, TransitionActor};
use coord_intents::ledger::State;
use coord_intents_state::intents::{
    AllowOutcome, Criteria, Move, MoveOutcome, Owner, Owners, Registry, SelectOutcome, Selection, StoredIntent,
    TakeOutcome, Usage, UseOutcome, WriteOutcome, WrittenIntent, allow_overlap, deny_selection, intent_texts, keys,
    move_intent, owned_paths, registry, select_intent, take_over, use_intent, write_intent,
};
use coord_state::admission::{AdmissionTerms, HeadTerms};

use crate::world::{Agent, World, answered};

const ORIGIN: &str = r#""metadata":{"session_id":"s","contributor":"m"},"trace_id":"t"#;
const PAYLOAD: &str = r#"{"tool_name":"select_active_intent"}"#;
const RESULT: &str = r#"{"status":"SUCCESS","output_summary":"Selected"}"#;
const DENIED: &str = r#"{"status":"DENIED","output_summary":"Not selected"}"#;

fn intent(id: &str) -> StoredIntent {
    StoredIntent {
        intent: Intent {
            id: id.to_owned(),
            name: format!("The name of {id}"),
            owned_scope: vec![format!("src/{id}/**")],
            ..Intent::default()
        },
        created_by: "ann".to_owned(),
        changed_by: None,
    }
}

impl Agent<'_> {
    pub fn terms(&self) -> AdmissionTerms<'_> {
        AdmissionTerms {
            head: HeadTerms::Any,
            ..AdmissionTerms::of(&self.world.repo, &self.branch, &self.holder, None, &[])
        }
    }

    pub async fn registry(&self) -> Registry {
        registry(&self.world.repo, &self.holder)
            .run(&*self.world.store)
            .await
            .unwrap()
    }

    pub async fn writes_as(&self, stored: &StoredIntent, seen: Option<&str>, is_for_holders: bool) -> WriteOutcome {
        let written = WrittenIntent {
            seen,
            stored,
            digest: "d",
            is_for_holders,
            change: "Written: \"it\" / again",
            origin: ORIGIN,
            is_person: false,
        };
        answered(write_intent(&*self.world.store, &self.terms(), &written).await.unwrap())
    }

    /// Writes a new intent.
    async fn writes_new(&self, id: &str) -> WriteOutcome {
        self.writes_as(&intent(id), None, true).await
    }

    pub(super) async fn writes_intent(&self, id: &str) {
        assert!(matches!(self.writes_new(id).await, WriteOutcome::Written(_)));
    }

    pub async fn selects_as(&self, id: &str, seen: &str) -> SelectOutcome {
        let selection = Selection {
            id,
            seen,
            payload: PAYLOAD,
            result: RESULT,
            origin: ORIGIN,
        };
        let selected = select_intent(&*self.world.store, &self.terms(), &selection).await;
        answered(selected.unwrap())
    }

    /// Notes that a selection of the intent was denied.
    async fn notes_denied_selection(&self, id: &str) -> State {
        let selection = Selection {
            id,
            seen: "",
            payload: PAYLOAD,
            result: DENIED,
            origin: ORIGIN,
        };
        answered(
            deny_selection(&*self.world.store, &self.terms(), &selection)
                .await
                .unwrap(),
        )
    }

    pub(super) async fn selects(&self, id: &str) -> SelectOutcome {
        let seen = self.registry().await.version;
        self.selects_as(id, &seen).await
    }

    async fn moves(&self, id: &str, status: Status, is_person: bool, criteria: Criteria) -> MoveOutcome {
        let seen = self.registry().await.version;
        self.moves_as(id, status, is_person, criteria, &seen).await
    }

    pub async fn moves_as(
        &self,
        id: &str,
        status: Status,
        is_person: bool,
        criteria: Criteria,
        seen: &str,
    ) -> MoveOutcome {
        let wanted = Move {
            id,
            status,
            is_person,
            criteria,
            seen,
            reason: "Why / not",
            origin: ORIGIN,
        };
        answered(move_intent(&*self.world.store, &self.terms(), &wanted).await.unwrap())
    }

    pub async fn allows(&self, id: &str, other: &str) -> AllowOutcome {
        let (store, terms) = (&*self.world.store, self.terms());
        answered(allow_overlap(store, &terms, id, other, ORIGIN).await.unwrap())
    }

    pub async fn takes(&self, id: &str, paths: &[&str]) -> TakeOutcome {
        let paths: Vec<FilePath> = paths.iter().map(|path| FilePath::parse(path).unwrap()).collect();
        let taken = take_over(&*self.world.store, &self.terms(), id, ORIGIN, &paths).await;
        answered(taken.unwrap())
    }

    pub async fn uses(&self, id: &str, call: Option<&str>, tokens: Option<(&str, u64)>) -> UseOutcome {
        let usage = Usage {
            id,
            call: call.map(|digest| ("Bash", digest)),
            breaker_calls: 3,
            tokens,
            origin: ORIGIN,
        };
        answered(use_intent(&*self.world.store, &self.terms(), &usage).await.unwrap())
    }

    /// Brings a new intent into this status.
    async fn has(&self, id: &str, status: Status) {
        self.writes_intent(id).await;
        if status != Status::Pending {
            assert!(matches!(self.selects(id).await, SelectOutcome::Selected(_)));
        }
        if !matches!(status, Status::Pending | Status::InProgress) {
            let moved = self.moves(id, status, true, Criteria::Met).await;
            assert!(matches!(moved, MoveOutcome::Moved(_)), "{moved:?}");
        }
    }
}

async fn owners(world: &World) -> Owners {
    let paths = owned_paths(&world.repo).run(&*world.store).await.unwrap();
    paths.owners(&*world.store, &world.repo).await.unwrap()
}

async fn an_intent_is_written_once_and_changed_from_what_was_read(world: World) {
    let ann = world.agent("ann/one");
    assert_eq!(ann.registry().await.version, "");
    let mut stored = intent("a");
    stored.intent.branch = Some("main".to_owned());
    stored.intent.budget = Some(Budget {
        max_turns: Some(5),
        ..Budget::default()
    });
    let written = WriteOutcome::Written(State::Request);
    assert_eq!(ann.writes_as(&stored, None, true).await, written);
    assert_eq!(ann.writes_as(&stored, None, true).await, WriteOutcome::Exists);
    let unknown = ann.writes_as(&intent("b"), Some("1"), true).await;
    assert_eq!(unknown, WriteOutcome::Unknown);
    let read = ann.registry().await;
    let record = &read.records["a"];
    assert_eq!((read.version.as_str(), record.version, record.order), ("1", 1, 1));
    assert_eq!(record.branch.as_deref(), Some("main"));
    assert_eq!((record.max_turns, record.max_tokens), (Some(5), None));
    assert!(record.created_ms > 1_700_000_000_000 && record.created_ms == record.updated_ms);
    let texts = intent_texts(&*world.store, &world.repo, &["a", "b"]).await.unwrap();
    assert_eq!(texts, BTreeMap::from([("a".to_owned(), stored.clone())]));
    stored.intent.name = "Another".to_owned();
    assert_eq!(ann.writes_as(&stored, Some("2"), true).await, WriteOutcome::Changed);
    assert_eq!(ann.writes_as(&stored, Some("1"), false).await, written);
    assert_eq!(ann.registry().await.records["a"].version, 1);
    assert_eq!(ann.writes_as(&stored, Some("2"), true).await, written);
    assert_eq!(ann.registry().await.records["a"].version, 2);
    let lines = world.lines().await;
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0].agent_id, "ann/one");
    assert_eq!(lines[0].payload.reasoning.as_deref(), Some("Written: \"it\" / again"));
}

async fn each_way_of_a_status_is_one_of_the_table_and_no_other(world: World) {
    let ann = world.agent("ann");
    for from in Status::ALL {
        for to in Status::ALL {
            for (is_person, criteria) in [
                (false, Criteria::Unmet),
                (false, Criteria::Met),
                (false, Criteria::Forced),
                (true, Criteria::Unmet),
                (true, Criteria::Forced),
            ] {
                let id = format!("{}-{}-{is_person}-{criteria:?}", from.as_str(), to.as_str());
                ann.has(&id, from).await;
                let outcome = ann.moves(&id, to, is_person, criteria).await;
                // An intent begins by a selection alone.
                let way = TransitionActor::of(from, to).filter(|_| from != Status::Pending || to != Status::InProgress);
                let expected = match way {
                    None => "NoTransition",
                    Some(TransitionActor::Anyone) => "Moved",
                    Some(TransitionActor::Person) if is_person => "Moved",
                    Some(TransitionActor::Person) => "Person",
                    Some(TransitionActor::OnceCriteriaAreMet) => match criteria {
                        Criteria::Met => "Moved",
                        Criteria::Unmet => "Criteria",
                        Criteria::Forced if is_person => "Moved",
                        Criteria::Forced => "Person",
                    },
                };
                assert!(format!("{outcome:?}").starts_with(expected), "{id}: {outcome:?}");
                let status = ann.registry().await.records[&id].status;
                assert_eq!(status, if expected == "Moved" { to } else { from }, "{id}");
                if status.is_active() {
                    ann.moves(&id, Status::Abandoned, true, Criteria::Unmet).await;
                }
            }
        }
    }
    let unknown = ann.moves("none", Status::Blocked, true, Criteria::Met).await;
    assert_eq!(unknown, MoveOutcome::Unknown);
}

async fn a_completion_is_decided_by_the_registry_that_was_read(world: World) {
    let ann = world.agent("ann");
    ann.has("a", Status::InProgress).await;
    let seen = ann.registry().await.version;
    ann.writes_intent("b").await;
    let outcome = ann.moves_as("a", Status::Completed, false, Criteria::Met, &seen).await;
    assert_eq!(outcome, MoveOutcome::Changed);
    let outcome = ann.moves("a", Status::Completed, false, Criteria::Met).await;
    assert_eq!(outcome, MoveOutcome::Moved(State::Request));
    let session = ann.registry().await.session;
    assert_eq!((session.state, session.intent), (State::Request, None));
    assert_eq!(session.last.as_deref(), Some("a"));
}

async fn a_selection_begins_what_is_pending_and_is_each_holder_s_own(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("ann/two"));
    assert_eq!(ann.selects_as("a", "").await, SelectOutcome::Unknown);
    ann.writes_intent("a").await;
    assert_eq!(ann.selects_as("a", "0").await, SelectOutcome::Changed);
    assert_eq!(ann.registry().await.session.state, State::Request);
    assert_eq!(ann.selects_as("a", "1").await, SelectOutcome::Selected(State::Action));
    assert_eq!(bob.registry().await.session.state, State::Request);
    // An intent in progress is selected whichever version was read.
    assert_eq!(bob.selects_as("a", "0").await, SelectOutcome::Selected(State::Action));
    let session = bob.registry().await.session;
    assert_eq!((session.intent.as_deref(), session.version), (Some("a"), Some(1)));
    assert!(bob.registry().await.uses["a"].last_call_ms > 0);
    ann.has("b", Status::InProgress).await;
    assert_eq!(ann.registry().await.session.last.as_deref(), Some("a"));
    for status in [Status::Blocked, Status::Completed, Status::Abandoned] {
        let id = status.as_str();
        ann.has(id, status).await;
        assert_eq!(ann.selects(id).await, SelectOutcome::NotActive(status));
    }
    // The same refusal is one line in a minute, and one for another reason another.
    let before = world.lines().await.len();
    for (id, count) in [("a", 1), ("a", 1), ("b", 2)] {
        assert_eq!(bob.notes_denied_selection(id).await, State::Action);
        assert_eq!(world.lines().await.len(), before + count, "{id}");
    }
}

async fn a_repository_without_intents_has_no_line_of_a_refused_selection(world: World) {
    let noted = world.agent("ann").notes_denied_selection("a").await;
    assert_eq!((noted, world.lines().await.len()), (State::Request, 0));
}

async fn an_overlap_is_allowed_on_both_sides(world: World) {
    let ann = world.agent("ann");
    ann.writes_intent("a").await;
    assert_eq!(ann.allows("a", "b").await, AllowOutcome::Unknown("b".to_owned()));
    assert_eq!(ann.allows("b", "a").await, AllowOutcome::Unknown("b".to_owned()));
    ann.writes_intent("b").await;
    for _ in 0..2 {
        assert_eq!(ann.allows("a", "b").await, AllowOutcome::Allowed(State::Request));
    }
    let records = ann.registry().await.records;
    assert_eq!(records["a"].may_overlap, ["b"]);
    assert_eq!(records["b"].may_overlap, ["a"]);
    assert_eq!(world.lines().await.len(), 3);
    ann.has("c", Status::Abandoned).await;
    assert_eq!(ann.allows("a", "c").await, AllowOutcome::Ended(Status::Abandoned));
    let edit = |record: &mut serde_json::Value| {
        record["may_overlap"] = (0..100).map(|number| format!("x{number}")).collect();
    };
    world.edit_json(&keys::intents(&world.repo), "a", edit).await;
    ann.writes_intent("d").await;
    assert_eq!(ann.allows("a", "d").await, AllowOutcome::Full);
}

async fn the_intents_of_a_login_take_a_quarter_of_what_an_intent_may_overlap_with(world: World) {
    let (bob, eve) = (world.agent("bob"), world.agent("eve"));
    bob.writes_intent("of-bob").await;
    for number in 0..26 {
        eve.writes_intent(&format!("e{number}")).await;
    }
    let allowed = AllowOutcome::Allowed(State::Request);
    for number in 0..25 {
        let outcome = eve.allows(&format!("e{number}"), "of-bob").await;
        assert_eq!(outcome, allowed, "{number}");
    }
    for (one, other) in [("e25", "of-bob"), ("of-bob", "e25")] {
        assert_eq!(eve.allows(one, other).await, AllowOutcome::Full);
    }
    assert_eq!(eve.allows("e0", "of-bob").await, allowed, "as before");
    world.agent("cem").writes_intent("of-cem").await;
    assert_eq!(bob.allows("of-bob", "of-cem").await, allowed);
}

async fn files_are_taken_over_with_what_was_recorded_of_them(world: World) {
    let ann = world.agent("ann");
    assert_eq!(ann.takes("a", &["x.ts"]).await, TakeOutcome::Unknown);
    ann.writes_intent("a").await;
    assert_eq!(ann.takes("a", &["x.ts"]).await, TakeOutcome::NotActive(Status::Pending));
    let key = keys::owners(&world.repo);
    let owned =
        r#"[{"intent":"z","branch":"main","hash":"DELETED","earlier":["sha256:1"]},{"intent":"y","branch":"next"}]"#;
    world.command(["HSET", &key, "x.ts", owned]).await;
    let mut stored = intent("b");
    stored.intent.branch = Some("main".to_owned());
    ann.writes_as(&stored, None, true).await;
    ann.selects("b").await;
    let taken = TakeOutcome::Taken(State::Action);
    assert_eq!(ann.takes("b", &["x.ts", "new.ts"]).await, taken);
    let stored = owners(&world).await;
    // Each as `intent hash` and the number of its earlier contents.
    let of = |path: &str| -> Vec<String> {
        let short = |owner: &Owner| {
            let hash = owner.hash.as_deref().unwrap_or("-");
            format!("{} {hash} {}", owner.intent, owner.earlier.len())
        };
        stored[path].iter().map(short).collect()
    };
    assert_eq!(of("x.ts"), ["y - 0", "b DELETED 1"]);
    assert_eq!(of("new.ts"), ["b - 0"]);
    // An intent of every branch takes them all.
    ann.selects("a").await;
    assert_eq!(ann.takes("a", &["x.ts"]).await, taken);
    assert_eq!(owners(&world).await["x.ts"].len(), 1);
    world.stores_rows(20_000, r#"[{"intent":"a"}]"#).await;
    assert_eq!(ann.takes("a", &["y.ts"]).await, TakeOutcome::Full);
    world.stores_rows(20_000, r#"[{"intent":"ended"}]"#).await;
    assert_eq!(ann.takes("a", &["y.ts"]).await, taken);
}

on_every_store!(
    an_intent_is_written_once_and_changed_from_what_was_read,
    each_way_of_a_status_is_one_of_the_table_and_no_other,
    a_completion_is_decided_by_the_registry_that_was_read,
    a_selection_begins_what_is_pending_and_is_each_holder_s_own,
    a_repository_without_intents_has_no_line_of_a_refused_selection,
    an_overlap_is_allowed_on_both_sides,
    the_intents_of_a_login_take_a_quarter_of_what_an_intent_may_overlap_with,
    files_are_taken_over_with_what_was_recorded_of_them,
);
