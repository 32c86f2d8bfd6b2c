//! The scripts.

use coord_state::scripts;

scripts! {
    /// Writes a new intent, or changes one.
    WRITE_INTENT = "write_intent", repeatable: false;
    /// Selects an intent.
    SELECT_INTENT = "select_intent", repeatable: false;
    /// Records a selection that was refused.
    DENY_SELECTION = "deny_selection", repeatable: false;
    /// Ends, blocks or resumes an intent.
    MOVE_INTENT = "move_intent", repeatable: false;
    /// Allows two intents to overlap.
    ALLOW_OVERLAP = "allow_overlap", repeatable: false;
    /// Makes an intent the owner of files.
    TAKE_OVER = "take_over", repeatable: false;
    /// Counts the costs of the work on an intent.
    USE_INTENT = "use_intent", repeatable: false;
}
