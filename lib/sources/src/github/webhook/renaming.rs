use std::borrow::Cow;

use serde::Deserialize;

use super::delivery::Delivery;
use super::payload_repository::{PayloadRepository, repository};
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
    repository: Option<Renamed<'a>>,
    #[serde(borrow, default)]
    owner: Option<Before<Owner<'a>>>,
}

#[derive(Deserialize)]
struct Renamed<'a> {
    #[serde(borrow)]
    name: Before<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Before<T> {
    from: T,
}

/// One of the two.
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

/// The name that no longer counts by `body`, of a repository of `host`.
pub(super) fn parse(body: &[u8], host: &str) -> Result<Delivery, Invalid> {
    let payload: Payload<'_> = serde_json::from_slice(body).map_err(|error| {
        // The error may quote a text of any length.
        let why: String = error.to_string().chars().take(200).collect();
        Invalid(format!("the delivery is not a valid event of a repository: {why}"))
    })?;
    if !matches!(&*payload.action, "renamed" | "transferred" | "deleted") {
        return Ok(Delivery::Other);
    }
    let now = repository(&payload.repository, host)?;
    let missing = || Invalid("the delivery does not contain the repository's old name".to_owned());
    let parts: Vec<&str> = now.as_str().split('/').collect();
    let [_, owner, name] = parts.as_slice() else {
        return Err(missing());
    };
    let Changes {
        repository,
        owner: from,
    } = payload.changes;
    let (owner, name) = match &*payload.action {
        "renamed" => ((*owner).into(), repository.ok_or_else(missing)?.name.from),
        "transferred" => {
            let Owner { user, organization } = from.ok_or_else(missing)?.from;
            (user.or(organization).ok_or_else(missing)?.login, (*name).into())
        }
        _ => return Ok(Delivery::Gone(now)),
    };
    let before = RepoId::parse(&format!("https://{host}/{owner}/{name}"));
    let before = before.map_err(|error| Invalid(format!("changes: {error}")))?;
    match before.as_str().split('/').count() {
        3 => Ok(Delivery::Gone(before)),
        _ => Err(missing()),
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
