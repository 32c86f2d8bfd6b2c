//! Where a server says more.

use coord_agent::local_server;
use coord_agent::workplace::Workplace;

/// The line that shows what the server says.
pub(super) fn see_the_log(workplace: &Workplace) -> String {
    let log = local_server::log(&workplace.work.working_copy);
    match workplace.connection.is_local && log.is_file() {
        true => format!("tail '{}'", log.display()),
        false => "see the log of the server".to_owned(),
    }
}
