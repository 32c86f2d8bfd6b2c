pub use coord_protocol::HolderState as State;
use serde::{Deserialize, Serialize};

/// The subject of a ledger line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ActionType {
    /// A tool ran, or its write was refused as stale.
    ToolExecution,
    /// An agent received its context.
    ContextLoad,
    /// An intent was selected, or its selection refused.
    IntentSelection,
    /// A write was refused: outside of the scope, ignored, or owned by another intent.
    ScopeViolation,
    /// A call was refused: the budget is spent, or the breaker tripped.
    BudgetExhausted,
    /// An intent or the state of a holder changed.
    StateTransition,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ResultStatus {
    Success,
    Failure,
    Denied,
}

macro_rules! text {
    ($($kind:ident { $($value:ident = $text:literal),+ })+) => {$(
        impl $kind {
            pub const ALL: &[$kind] = &[$($kind::$value),+];

            /// The value as the ledger has it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($kind::$value => $text),+
                }
            }
        }
    )+};
}

text! {
    ActionType {
        ToolExecution = "TOOL_EXECUTION", ContextLoad = "CONTEXT_LOAD", IntentSelection = "INTENT_SELECTION",
        ScopeViolation = "SCOPE_VIOLATION", BudgetExhausted = "BUDGET_EXHAUSTED", StateTransition = "STATE_TRANSITION"
    }
    ResultStatus { Success = "SUCCESS", Failure = "FAILURE", Denied = "DENIED" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_are_those_of_the_model_and_no_others() {
        let texts = |json: String| json.trim_matches('"').replace("\",\"", " | ");
        let all = |json: Result<String, serde_json::Error>| texts(json.unwrap().replace(['[', ']'], ""));
        for state in [State::Request, State::Reasoning, State::Action] {
            assert_eq!(all(serde_json::to_string(&state)), state.as_str());
        }
        assert_eq!(
            all(serde_json::to_string(ActionType::ALL)),
            "TOOL_EXECUTION | CONTEXT_LOAD | INTENT_SELECTION | SCOPE_VIOLATION | BUDGET_EXHAUSTED | STATE_TRANSITION"
        );
        assert_eq!(
            all(serde_json::to_string(ResultStatus::ALL)),
            "SUCCESS | FAILURE | DENIED"
        );
        let joined = |texts: Vec<&str>| texts.join(" | ");
        assert_eq!(
            joined(ActionType::ALL.iter().map(|value| value.as_str()).collect()),
            all(serde_json::to_string(ActionType::ALL))
        );
        assert!(serde_json::from_str::<ActionType>("\"INTENT_COMPLETED\"").is_err());
        assert!(serde_json::from_str::<ResultStatus>("\"WARNING\"").is_err());
        assert!(serde_json::from_str::<State>("\"action\"").is_err());
    }
}
