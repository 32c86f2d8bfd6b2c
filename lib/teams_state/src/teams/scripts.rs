//! The scripts of teams and members. Running a `repeatable` one twice has the effect of running it once.

use coord_state::scripts;

scripts! {
    /// Creates a team.
    CREATE_TEAM = "create_team", repeatable: false;
    /// Makes the caller a member, or takes over a handle from another agent of its login.
    JOIN_TEAM = "join_team", repeatable: false;
    /// Shows a team and its members.
    SHOW_TEAM = "show_team", repeatable: true;
    /// Returns pending items for a caller.
    TELL_WAITING = "tell_waiting", repeatable: true;
    /// Makes another member the leader.
    HAND_OVER = "hand_over", repeatable: false;
}
