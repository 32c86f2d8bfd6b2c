//! The resources, as listed for clients.

use rmcp::model::ResourceTemplate;

use super::offer::Offer;

pub const JSON: &str = "application/json";

/// Which resources there are.
pub(super) fn templates(offer: Offer) -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, title: &str, description: &str| {
        ResourceTemplate::new(offer.without_repository(uri), name)
            .with_title(title)
            .with_description(description)
            .with_mime_type(JSON)
    };
    vec![
        template(
            "coord://locks{?repo_url,branch,holder,agent_id}",
            "locks",
            "Who holds what",
            "The locks of a repository, or of one branch; holder=me: yours alone",
        ),
        template(
            "coord://activity{?repo_url,branch,after,limit}",
            "activity",
            "What happened",
            "The newest 50 events of a repository, or of one branch: claims, releases, refusals, pushes",
        ),
        #[cfg(feature = "intents")]
        template(
            "coord://intents{?repo_url,view}",
            "intents",
            "Why files are changed",
            "The intents of a repository; view=state: with the files that they own, and all locks",
        ),
        #[cfg(feature = "intents")]
        template(
            "coord://ledger{?repo_url,after,limit,intent,file,last}",
            "ledger",
            "What was done",
            "The lines of the ledger: all, those about an intent or a file, or the last ones",
        ),
        #[cfg(feature = "teams")]
        template(
            "coord://team/{team}{?repo_url}",
            "team",
            "Who works together",
            "A team with its members, who is live, and an open shutdown",
        ),
        #[cfg(feature = "teams")]
        template(
            "coord://tasks/{id}{?repo_url,team,agent_id}",
            "task",
            "What is to be done",
            "A task of a team with its notes, its result and those of its dependencies",
        ),
        template(
            "coord://graph/{+path}{?repo_url,branch,depth,direction}",
            "graph",
            "Neighbors of a file",
            "Files that import a file or that it imports, with their locks; direction: imports, importers or both",
        ),
    ]
}
