//! What is offered: by a deployment, whose callers send everything, or by `coord mcp`, which fills in what git knows.

use std::sync::LazyLock;

use rmcp::model::Tool as Definition;

use super::instructions;
use super::tools::Tool;

static OF_DEPLOYMENT: LazyLock<Vec<Definition>> = LazyLock::new(|| definitions(Offer::Deployment));
static OF_WORKING_COPY: LazyLock<Vec<Definition>> = LazyLock::new(|| definitions(Offer::WorkingCopy));

/// Who offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// An endpoint: a caller sends repository, branch, commits and agent.
    Deployment,
    /// `coord mcp`, in the working copy of the agent.
    WorkingCopy,
}

impl Offer {
    /// The arguments that are filled in, and so not asked for. They are taken all the same where they are sent.
    pub(super) fn filled_in(self) -> &'static [&'static str] {
        match self {
            Offer::Deployment => &[],
            Offer::WorkingCopy => &["repo_url", "agent_head", "base_head", "agent_id", "new_repo_head"],
        }
    }

    /// Whether the argument `name` need not be sent, though a request must have it.
    pub(super) fn is_optional(self, name: &str) -> bool {
        self == Offer::WorkingCopy && (name == "branch" || self.filled_in().contains(&name))
    }

    /// The tools.
    pub(super) fn tools(self) -> &'static [Definition] {
        match self {
            Offer::Deployment => &OF_DEPLOYMENT,
            Offer::WorkingCopy => &OF_WORKING_COPY,
        }
    }

    /// The rules of an agent.
    pub(super) fn instructions(self) -> &'static str {
        match self {
            Offer::Deployment => instructions::OF_DEPLOYMENT,
            Offer::WorkingCopy => instructions::OF_WORKING_COPY,
        }
    }

    /// The template of a URI, without the repository where it is filled in.
    pub(super) fn without_repository(self, template: &str) -> String {
        match self {
            Offer::Deployment => template.to_owned(),
            Offer::WorkingCopy => template.replace("{?repo_url,", "{?"),
        }
    }
}

fn definitions(offer: Offer) -> Vec<Definition> {
    Tool::ALL.into_iter().map(|tool| tool.definition(offer)).collect()
}
