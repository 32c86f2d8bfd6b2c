//! Formats locks for a terminal.

use coord_protocol::{InterfacePromise, LockMode};

/// `USER/AGENT`, or the user alone.
pub fn holder(user: &str, agent_id: Option<&str>) -> String {
    match agent_id {
        Some(agent) => format!("{user}/{agent}"),
        None => user.to_owned(),
    }
}

/// A holder's use of a file; others may write it too if it `is_shared`.
pub fn mode(mode: LockMode, interface: Option<InterfacePromise>, is_shared: bool) -> String {
    let verb = match mode {
        LockMode::Writing => "writes",
        LockMode::Reading => "reads",
    };
    let shared = if is_shared { ", shared" } else { "" };
    let promise = match interface {
        Some(InterfacePromise::Keeps) => ", keeps its interface",
        _ => "",
    };
    format!("{verb}{shared}{promise}")
}
