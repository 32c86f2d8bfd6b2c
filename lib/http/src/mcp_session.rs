//! A request of MCP, once its caller is known: the caller, and the tools that it is offered.

use std::sync::Arc;

use coord_auth::Caller;
use coord_server::app::App;

/// The caller of one request.
pub struct Session {
    /// The `App` of the operations.
    pub app: Arc<App>,
    pub caller: Caller,
    /// The header `X-Coord-Agent`.
    pub agent: Option<String>,
    /// The tools that it is offered.
    pub groups: Vec<ToolGroup>,
}

/// Tools that are offered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolGroup {
    /// Those of files and intents.
    Locks,
    /// Of these, those of files alone.
    Files,
    /// And those of intents.
    Intents,
    /// Those of teams and their tasks.
    Tasks,
    /// Those of teams and their messages.
    Messages,
    /// Those of the plugin opencode-teams, in place of [`Self::Tasks`] and [`Self::Messages`].
    OpenCode,
}

impl ToolGroup {
    /// Those that are offered where nobody chooses.
    pub const USUAL: [ToolGroup; 3] = [ToolGroup::Locks, ToolGroup::Tasks, ToolGroup::Messages];

    /// The group called `name`.
    fn named(name: &str) -> Option<ToolGroup> {
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
    /// A sentence, when there is no such group, or they do not go together.
    pub fn parse(names: &str) -> Result<Vec<ToolGroup>, String> {
        let named = |name| ToolGroup::named(name).ok_or("takes locks, tasks, messages, opencode, with commas between");
        let groups = names.split(',').map(named).collect::<Result<Vec<_>, _>>()?;
        if groups.contains(&ToolGroup::OpenCode)
            && (groups.contains(&ToolGroup::Tasks) || groups.contains(&ToolGroup::Messages))
        {
            return Err("takes opencode in place of tasks and messages, not beside them".to_owned());
        }
        Ok(groups)
    }
}
