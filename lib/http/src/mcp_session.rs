//! An authenticated request of MCP: its caller, and the tools that the caller is offered.

use std::sync::Arc;

use coord_auth::Caller;
use coord_server::app::App;

/// The caller of one request, and what the request works with.
pub struct Session {
    /// The `App` of the operations.
    pub app: Arc<App>,
    pub caller: Caller,
    /// The header `X-Coord-Agent`.
    pub agent: Option<String>,
    /// The tools that the caller is offered.
    pub groups: Vec<ToolGroup>,
}

/// Tools that are offered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolGroup {
    /// The tools of files and intents.
    Locks,
    /// The tools of files.
    Files,
    /// The tools of intents.
    Intents,
    /// The tools of teams and their tasks.
    Tasks,
    /// The tools of teams and their messages.
    Messages,
    /// The tools of the plugin opencode-teams, in place of [`Self::Tasks`] and [`Self::Messages`].
    OpenCode,
}

impl ToolGroup {
    /// The groups that are offered by default.
    pub const USUAL: [ToolGroup; 3] = [ToolGroup::Locks, ToolGroup::Tasks, ToolGroup::Messages];

    fn by_name(name: &str) -> Option<ToolGroup> {
        Some(match name {
            "locks" => ToolGroup::Locks,
            "tasks" => ToolGroup::Tasks,
            "messages" => ToolGroup::Messages,
            "opencode" => ToolGroup::OpenCode,
            _ => return None,
        })
    }

    /// The groups with these names, such as `locks,opencode`.
    ///
    /// # Errors
    /// A sentence, when there is no such group, or the groups cannot be combined.
    pub fn parse(names: &str) -> Result<Vec<ToolGroup>, String> {
        let group =
            |name| ToolGroup::by_name(name).ok_or("takes locks, tasks, messages, opencode, with commas between");
        let groups = names.split(',').map(group).collect::<Result<Vec<_>, _>>()?;
        if groups.contains(&ToolGroup::OpenCode)
            && (groups.contains(&ToolGroup::Tasks) || groups.contains(&ToolGroup::Messages))
        {
            return Err("takes opencode in place of tasks and messages, not beside them".to_owned());
        }
        Ok(groups)
    }
}
