use std::borrow::Cow;

use serde::Deserialize;

use super::delivery::{Delivery, from_json};
use super::payload_repository::{PayloadRepository, repo_id};
use coord_domain::{Invalid, RepoId};

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow)]
    action: Cow<'a, str>,
    #[serde(borrow, default)]
    changes: Changes<'a>,
    #[serde(borrow)]
    repository: PayloadRepository<'a>,
}

#[derive(Default, Deserialize)]
struct Changes<'a> {
    #[serde(borrow, default)]
    repository: Option<RepositoryChange<'a>>,
    #[serde(borrow, default)]
    owner: Option<Change<Owner<'a>>>,
}

#[derive(Deserialize)]
struct RepositoryChange<'a> {
    #[serde(borrow)]
    name: Change<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Change<T> {
    from: T,
}

/// A user or an organization.
#[derive(Deserialize)]
struct Owner<'a> {
    #[serde(borrow, default)]
    user: Option<Login<'a>>,
    #[serde(borrow, default)]
    organization: Option<Login<'a>>,
}

#[derive(Deserialize)]
struct Login<'a> {
    #[serde(borrow)]
    login: Cow<'a, str>,
}

/// The old name of a repository of `host`, according to `body`.
pub(super) fn parse(body: &[u8], host: &str) -> Result<Delivery, Invalid> {
    let payload: Payload<'_> = from_json("event of a repository", body)?;
    if !matches!(&*payload.action, "renamed" | "transferred" | "deleted") {
        return Ok(Delivery::Other);
    }
    let repo = repo_id(&payload.repository, host)?;
    let no_old_name = || Invalid("the delivery does not contain the repository's old name".to_owned());
    let parts: Vec<&str> = repo.as_str().split('/').collect();
    let [_, owner, name] = parts.as_slice() else {
        return Err(no_old_name());
    };
    let changes = payload.changes;
    let (old_owner, old_name) = match &*payload.action {
        "renamed" => {
            let change = changes.repository.ok_or_else(no_old_name)?;
            ((*owner).into(), change.name.from)
        }
        "transferred" => {
            let Owner { user, organization } = changes.owner.ok_or_else(no_old_name)?.from;
            let old_owner = user.or(organization).ok_or_else(no_old_name)?;
            (old_owner.login, (*name).into())
        }
        _ => return Ok(Delivery::Gone(repo)),
    };
    let old_repo = RepoId::parse(&format!("https://{host}/{old_owner}/{old_name}"));
    let old_repo = old_repo.map_err(|error| Invalid(format!("changes: {error}")))?;
    match old_repo.as_str().split('/').count() {
        3 => Ok(Delivery::Gone(old_repo)),
        _ => Err(no_old_name()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn delivered(action: &str, changes: Value) -> Result<Delivery, Invalid> {
        let mut payload = json!({
            "action": action,
            "repository": { "full_name": "acme/widgets", "html_url": "https://github.com/acme/widgets" },
        });
        if !changes.is_null() {
            payload["changes"] = changes;
        }
        parse(payload.to_string().as_bytes(), "github.com")
    }

    #[test]
    fn the_name_before_is_the_one_that_no_longer_counts() {
        let renamed = json!({ "repository": { "name": { "from": "gizmos" } } });
        let of_user = json!({ "owner": { "from": { "user": { "login": "ann" } } } });
        let of_organization = json!({ "owner": { "from": { "organization": { "login": "old" } } } });
        for (action, changes, name) in [
            ("renamed", renamed.clone(), "acme/gizmos"),
            ("transferred", of_user.clone(), "ann/widgets"),
            ("transferred", of_organization, "old/widgets"),
            ("deleted", Value::Null, "acme/widgets"),
        ] {
            let gone = RepoId::parse(&format!("https://github.com/{name}")).unwrap();
            assert_eq!(delivered(action, changes), Ok(Delivery::Gone(gone)), "{action}");
        }
        for action in ["created", "edited", "archived", "publicized"] {
            assert_eq!(delivered(action, renamed.clone()), Ok(Delivery::Other), "{action}");
        }
        let elsewhere = json!({ "repository": { "name": { "from": "../../evil/x" } } });
        for (action, changes) in [
            ("renamed", Value::Null),
            ("renamed", of_user),
            ("renamed", elsewhere),
            ("transferred", renamed),
            ("transferred", json!({ "owner": { "from": {} } })),
        ] {
            assert!(delivered(action, changes).is_err(), "{action}");
        }
    }
}
