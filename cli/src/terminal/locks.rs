//! Locks in a terminal.

use coord_protocol::LockMode;

/// `user/agent`, or the user alone.
pub fn holder(user: &str, agent_id: Option<&str>) -> String {
    match agent_id {
        Some(agent) => format!("{user}/{agent}"),
        None => user.to_owned(),
    }
}

/// What a holder does with a file.
pub fn mode(mode: LockMode) -> &'static str {
    match mode {
        LockMode::Writing => "writes",
        LockMode::Reading => "reads",
    }
}
