use std::borrow::Cow;

use serde::Deserialize;

use coord_domain::{Invalid, RepoId};

/// The repository in a delivery.
#[derive(Deserialize)]
pub(super) struct PayloadRepository<'a> {
    #[serde(borrow)]
    full_name: Cow<'a, str>,
    #[serde(borrow)]
    html_url: Cow<'a, str>,
}

/// The id of the repository, if its name and its URL agree.
pub(super) fn repo_id(repository: &PayloadRepository<'_>, host: &str) -> Result<RepoId, Invalid> {
    let is_web = ["https://", "http://"]
        .iter()
        .any(|scheme| repository.html_url.starts_with(scheme));
    let by_url =
        RepoId::parse(&repository.html_url).map_err(|error| Invalid(format!("repository.html_url: {error}")))?;
    let by_name = RepoId::parse(&format!("https://{host}/{}", repository.full_name))
        .map_err(|error| Invalid(format!("repository.full_name: {error}")))?;
    if is_web && by_url == by_name && by_name.as_str().split('/').count() == 3 {
        Ok(by_name)
    } else {
        Err(Invalid(format!("repository: {by_url} is not a repository of {host}")))
    }
}
