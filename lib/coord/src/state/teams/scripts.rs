//! The scripts.

use crate::store::script::scripts;

scripts! {
    /// Makes a team.
    CREATE_TEAM = "create_team", repeatable: false;
    /// Makes the caller a member, or gives it its handle back.
    JOIN_TEAM = "join_team", repeatable: false;
    /// Makes another member the leader.
    HAND_OVER = "hand_over", repeatable: false;
}
