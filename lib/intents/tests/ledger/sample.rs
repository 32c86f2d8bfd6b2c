//! Ledgers to damage.

use coord_intents::ledger::{
    ActionType, Adoption, Anchor, ContentHash, Event, Expectations, Metadata, Outcome, Payload, Point, ResultStatus,
    Sealer, Source, State, Timestamp, ToolInput, TraceId,
};

pub const REPOSITORY: &str = "github.com/acme/shop";
const INTENT: &str = "018f6a1c-7a52-7cc3-9a61-0d2b7c3e4f10";

/// The vector of the format, which was computed by another program.
pub const VECTOR: &str = include_str!("vector.jsonl");

/// Two lines of the other program whose lines Coord adopts.
pub const FOREIGN: &str = concat!(
    r#"{"trace_id":"t-1","timestamp":"2026-02-18T10:00:00.000Z","actor":"agent","summary":"Wrote a file","#,
    r#""ranges":{"file":"src/app.ts","content_hash":"e3b0c44298fc1c149afbf4c8996fb924","start_line":1,"end_line":-1}}"#,
    "\n",
    r#"{"state":"ACTION","action_type":"INTENT_COMPLETED","result":{"status":"WARNING","output_summary":"größer"}}"#,
    "\n"
);

pub fn event(number: u64) -> Event {
    Event {
        action_type: ActionType::ToolExecution,
        payload: Payload {
            tool_name: Some("Write".to_owned()),
            tool_input: Some(ToolInput::record(
                &serde_json::json!({ "file_path": format!("src/ü{number}.ts") }),
            )),
            target_files: vec![format!("src/ü{number}.ts")],
            hash: Some(ContentHash::of(&number.to_be_bytes())),
            ..Payload::default()
        },
        result: Outcome {
            status: ResultStatus::Success,
            output_summary: format!("Wrote \"src/ü{number}.ts\""),
            error_message: None,
        },
        metadata: Metadata {
            session_id: "s-7".to_owned(),
            contributor: "anthropic/claude-opus-4-5".to_owned(),
            mutation_class: None,
        },
        trace_id: TraceId::parse(&format!("018f6a1d-0000-7000-8000-{number:012}")).unwrap(),
    }
}

/// A line that is not sealed yet.
pub fn unsealed(event: Event, number: u64) -> String {
    let time = Timestamp::from_millis(1_795_338_000_000 + number * 1500);
    let line = event.prepare(Some("claude-1")).unwrap();
    line.join(time, "ada", Some(INTENT), State::Action)
        .unwrap()
        .as_str()
        .to_owned()
}

/// Line `number` of a sample, which is not sealed yet.
pub fn line(number: usize) -> String {
    unsealed(event(number as u64), number as u64)
}

pub fn adoption(of: &str) -> Event {
    Event {
        action_type: ActionType::StateTransition,
        payload: Adoption::of(of.as_bytes()).unwrap().payload(),
        ..event(0)
    }
}

/// A ledger of `count` lines, each with its newline, and the point after each, from that before the first.
#[derive(Clone)]
pub struct Ledger {
    pub lines: Vec<String>,
    pub points: Vec<Point>,
}

impl Ledger {
    pub fn of(repository: &str, lines: impl IntoIterator<Item = String>) -> Self {
        Self::after(Point::start(repository), lines)
    }

    pub fn after(start: Point, lines: impl IntoIterator<Item = String>) -> Self {
        let mut ledger = Ledger {
            lines: Vec::new(),
            points: vec![start],
        };
        let mut sealer = Sealer::after(start);
        for line in lines {
            let mut sealed = Vec::new();
            ledger.points.push(sealer.append(&mut sealed, &line).unwrap());
            ledger.lines.push(String::from_utf8(sealed).unwrap());
        }
        ledger
    }

    pub fn sample(count: usize) -> Self {
        Self::of(REPOSITORY, (1..=count).map(line))
    }

    /// Two foreign lines before the sealed ones, the second of which adopts them.
    pub fn adopted(count: usize) -> Self {
        let line = |number| match number {
            2 => unsealed(adoption(FOREIGN), 2),
            number => line(number),
        };
        Self::of(REPOSITORY, (1..=count).map(line))
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.lines.concat().into_bytes()
    }

    /// The bytes after a change of the lines.
    pub fn changed(&self, change: impl FnOnce(&mut Vec<String>)) -> Vec<u8> {
        let mut lines = self.lines.clone();
        change(&mut lines);
        lines.concat().into_bytes()
    }

    /// The chain, and the last point as the seal of the store.
    pub fn sealed(&self) -> Expectations {
        expected(&[*self.points.last().unwrap()])
    }
}

/// The chain alone.
pub fn chain() -> Expectations {
    Expectations::chain_of(REPOSITORY)
}

/// The chain, and these points.
pub fn expected(anchors: &[Point]) -> Expectations {
    let anchor = |&point| Anchor {
        point,
        source: Source::Seal,
    };
    Expectations {
        anchors: anchors.iter().map(anchor).collect(),
        ..chain()
    }
}
