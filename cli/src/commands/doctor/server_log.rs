//! The location of the server's log.

use coord_agent::local_server;
use coord_agent::workplace::Workplace;

/// The command that shows the log, or the step where the server runs elsewhere.
pub(super) fn see_the_log(workplace: &Workplace) -> String {
    let log = local_server::log(&workplace.work.working_copy);
    match workplace.connection.is_local && log.is_file() {
        true => format!("tail '{}'", log.display()),
        false => "see the log of the server".to_owned(),
    }
}
