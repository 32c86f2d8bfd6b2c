//! The ledger: its lines, its seal, and what is recorded of files.

mod contents;
pub mod record;
mod sealing;
mod shares;
mod trimming;

use std::process::Command;

use coord_domain::{FilePath, Holder};
use coord_intents::ledger::{
    ActionType, Anchor, Entry, Event, Expectations, Metadata, Outcome, Payload, Report, ResultStatus, Source, TraceId,
    verify,
};
use coord_intents_server::ledger::{SealedLine, read_lines, seal_lines};
use coord_intents_state::ledger::Seal;
use coord_intents_state::ledger::{Mutation, Record, RecordOutcome, RecordStatus, RecordedEvent, RecordedKind};
use coord_state::admission::{AdmissionTerms, Admitted};
use coord_store::Request;

use crate::world::{Agent, World, answered};

/// More than any test has.
pub const MANY: usize = 1_000_000;

pub const HASH: &str = "sha256:5ca890bf2046006ced7f9a4f4e9449d7beb77fc868bba102d34c34fa715078e7";
/// Of an empty file.
pub const EMPTY: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

impl World {
    /// Appends `count` lines, as scripts do, numbered from `from`.
    pub async fn appends(&self, from: usize, count: usize) {
        let ledger = coord_intents_state::ledger::keys::ledger(&self.repo);
        for some in (from..from + count).collect::<Vec<_>>().chunks(500) {
            let texts = some.iter().map(|number| format!("{{\"line\":{number}}}"));
            let batch = texts.map(|text| Request::command(["XADD", &ledger, "*", "line", &text]));
            self.store.run(batch.collect()).await.unwrap();
        }
    }

    pub async fn seals(&self, most_lines: usize) -> Seal {
        seal_lines(&*self.store, &self.repo, most_lines).await.unwrap()
    }

    pub async fn seal(&self) -> Seal {
        coord_intents_state::ledger::seal(&self.repo)
            .run(&*self.store)
            .await
            .unwrap()
    }

    /// All sealed lines, in pages.
    pub async fn sealed_lines(&self) -> Vec<SealedLine> {
        let seal = self.seal().await;
        let (mut lines, mut after): (Vec<SealedLine>, _) = (Vec::new(), seal.base.point.seq);
        loop {
            let page = read_lines(&*self.store, &self.repo, &seal, after, 100).await.unwrap();
            let page = page.expect("nothing was dropped meanwhile");
            let Some(last) = page.last() else {
                return lines;
            };
            after = last.seq;
            lines.extend(page);
        }
    }

    /// The verdict on the whole ledger, with its seal.
    pub async fn verdict(&self) -> Report {
        let seal = self.seal().await;
        let expected = Expectations {
            base: Some(seal.base.point).filter(|base| base.seq > 0),
            anchors: vec![Anchor {
                point: seal.sealed.point,
                source: Source::Seal,
            }],
            ..Expectations::chain_of(self.repo.as_str())
        };
        let text = file_of(&self.sealed_lines().await);
        verify(text.as_bytes(), &expected).unwrap()
    }

    /// The lines as scripts have appended them.
    pub async fn lines(&self) -> Vec<Entry> {
        let mut lines = coord_intents_state::ledger::newest_lines(&self.repo, MANY)
            .run(&*self.store)
            .await
            .unwrap();
        lines.reverse();
        let entry = |line: &coord_intents_state::ledger::AppendedLine| Entry::parse(line.text.as_bytes());
        lines
            .iter()
            .map(|line| entry(line).unwrap_or_else(|error| panic!("{error}: {}", line.text)))
            .collect()
    }

    /// The lines, each as `state action_type status intent files`.
    pub async fn lines_in_short(&self) -> Vec<String> {
        let short = |line: &Entry| {
            format!(
                "{} {} {} {} {}",
                line.state.as_str(),
                line.action_type.as_str(),
                line.result.status.as_str(),
                line.intent_id.as_deref().unwrap_or("-"),
                line.payload.target_files.join(" ")
            )
        };
        self.lines().await.iter().map(short).collect()
    }

    /// Writes an intent into the registry, as its scripts do.
    pub async fn has_intent(&self, id: &str, status: &str, branch: Option<&str>) {
        let mut record = serde_json::json!({ "status": status, "digest": "d", "version": 1, "order": 1 });
        if let Some(branch) = branch {
            record["branch"] = branch.into();
        }
        let intents = coord_intents_state::intents::keys::intents(&self.repo);
        self.command(["HSET", &intents, id, &record.to_string()]).await;
        self.command(["INCR", &coord_intents_state::intents::keys::governed(&self.repo)])
            .await;
    }

    /// Returns the recorded contents of `path`.
    pub async fn owners(&self, path: &str) -> serde_json::Value {
        let owners = coord_intents_state::intents::keys::owners(&self.repo);
        let stored = self.command(["HGET", &owners, path]).await;
        stored
            .as_str()
            .map_or(serde_json::Value::Null, |text| serde_json::from_str(text).unwrap())
    }

    pub async fn set_session(&self, holder: &Holder, session: &str) {
        let time = self.now().await * 1000;
        self.set_session_at(holder, time, session).await;
    }

    /// The same, written at `time`, Unix milliseconds.
    pub async fn set_session_at(&self, holder: &Holder, time: i64, session: &str) {
        let key = coord_intents_state::intents::keys::sessions(&self.repo, holder);
        let stored = format!("{time} {session}");
        self.command(["HSET", &key, holder.agent_or_empty(), &stored]).await;
    }

    pub async fn session(&self, holder: &Holder) -> serde_json::Value {
        let key = coord_intents_state::intents::keys::sessions(&self.repo, holder);
        let stored = self.command(["HGET", &key, holder.agent_or_empty()]).await;
        let json = stored.as_str().and_then(|stored| stored.split_once(' '));
        json.map_or(serde_json::Value::Null, |(_, json)| serde_json::from_str(json).unwrap())
    }
}

pub fn file_of(lines: &[SealedLine]) -> String {
    lines.iter().map(|line| format!("{}\n", line.text)).collect()
}

/// Returns the verdict of the verifier in Python; `None` without Python.
pub fn python_verdict(repository: &str, text: &str, anchors: &[String]) -> Option<String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/ledger/verify.py");
    let mut command = Command::new("python3");
    command.arg(program).arg(repository).arg(file.path()).args(anchors);
    let Ok(output) = command.output() else {
        coord_test_support::skipping::skip("python3 is not installed");
        return None;
    };
    let printed = [output.stdout, output.stderr].concat();
    Some(String::from_utf8(printed).unwrap().trim().to_owned())
}

/// An event without a file.
pub fn event(trace_id: &str, kind: RecordedKind, action_type: ActionType, status: ResultStatus) -> RecordedEvent {
    RecordedEvent {
        kind,
        trace_id: TraceId::parse(trace_id).unwrap(),
        line: line(trace_id, action_type, status, Payload::default()),
    }
}

/// A file that was changed.
pub fn change(trace_id: &str, path: &str, hash: &str, token: Option<i64>) -> RecordedEvent {
    let payload = || Payload {
        target_files: vec![path.to_owned()],
        hash: Some(hash.parse().unwrap()),
        ..Payload::default()
    };
    let line = |status| line(trace_id, ActionType::ToolExecution, status, payload());
    RecordedEvent {
        kind: RecordedKind::Mutation(Mutation {
            path: FilePath::parse(path).unwrap(),
            hash: hash.parse().unwrap(),
            token,
            has_failed: false,
            without_lock: line(ResultStatus::Failure).result,
            other_token: line(ResultStatus::Failure).result.replace("done", "other token"),
        }),
        trace_id: TraceId::parse(trace_id).unwrap(),
        line: line(ResultStatus::Success),
    }
}

fn line(
    trace_id: &str,
    action_type: ActionType,
    status: ResultStatus,
    payload: Payload,
) -> coord_intents::ledger::PreparedLine {
    let event = Event {
        action_type,
        payload,
        result: Outcome {
            status,
            output_summary: "done".to_owned(),
            error_message: None,
        },
        metadata: Metadata::default(),
        trace_id: TraceId::parse(trace_id).unwrap(),
    };
    event.prepare(None).unwrap()
}

impl Agent<'_> {
    pub async fn records(&self, events: &[RecordedEvent]) -> Vec<&'static str> {
        in_short(&self.record(None, false, events).await)
    }

    pub async fn record(&self, intent: Option<&str>, is_reset: bool, events: &[RecordedEvent]) -> RecordOutcome {
        answered(self.try_record(intent, is_reset, events).await)
    }

    pub async fn try_record(
        &self,
        intent: Option<&str>,
        is_reset_by_prompts: bool,
        events: &[RecordedEvent],
    ) -> Admitted<RecordOutcome> {
        let terms = AdmissionTerms::of(&self.world.repo, &self.branch, &self.holder, Some(&self.head), &[]);
        let request = Record {
            intent,
            is_reset_by_prompts,
            events,
        };
        coord_intents_state::ledger::record(&*self.world.store, &terms, &request)
            .await
            .unwrap()
    }
}

pub fn in_short(outcome: &RecordOutcome) -> Vec<&'static str> {
    let word = |outcome: &RecordStatus| match outcome {
        RecordStatus::New(status) => status.as_str(),
        RecordStatus::Repeated => "REPEATED",
    };
    outcome.outcomes.iter().map(word).collect()
}
