//! The offer: a deployment's callers send all arguments, and `coord mcp` fills in the ones that git knows.

/// The server that offers tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// An endpoint: a caller sends repository, branch, commits and agent.
    Deployment,
    /// `coord mcp`, in the working copy of the agent.
    WorkingCopy,
}

impl Offer {
    /// The arguments that are filled in, and so not asked for. They are still accepted.
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

    /// The template of a URI, without the repository where it is filled in.
    pub(super) fn without_repository(self, template: &str) -> String {
        match self {
            Offer::Deployment => template.to_owned(),
            Offer::WorkingCopy => template.replace("{?repo_url,", "{?").replace("{?repo_url}", ""),
        }
    }
}
