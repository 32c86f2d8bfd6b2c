//! The scripts of messages. Running a `repeatable` one twice has the effect of running it once.

use coord_state::scripts;

scripts! {
    /// Sends a message.
    SEND_MESSAGE = "send_message", repeatable: false;
    /// Reads the messages after a cursor.
    READ_MESSAGES = "read_messages", repeatable: false;
    /// Lists the messages of a team.
    LIST_MESSAGES = "list_messages", repeatable: true;
}
