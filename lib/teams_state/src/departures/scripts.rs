//! The scripts of leaving a team, and of shutdowns. Running a `repeatable` one twice has the effect of running it once.

use coord_state::scripts;

scripts! {
    /// Asks a member to stop, or the team to close.
    REQUEST_SHUTDOWN = "request_shutdown", repeatable: false;
    /// Approves or rejects a shutdown.
    ANSWER_SHUTDOWN = "answer_shutdown", repeatable: false;
    /// Ends a shutdown that was not answered in time.
    FORCE_SHUTDOWN = "force_shutdown", repeatable: false;
    /// Ends the caller's membership.
    LEAVE_TEAM = "leave_team", repeatable: false;
    /// Removes a team.
    DELETE_TEAM = "delete_team", repeatable: false;
}
