use std::borrow::Cow;

use serde::Deserialize;

use super::delivery::{Delivery, PullRequest, from_json, parse_time};
use super::payload_repository::{PayloadRepository, repo_id};
use coord_domain::{Branch, Invalid};

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow)]
    action: Cow<'a, str>,
    number: u64,
    #[serde(borrow)]
    pull_request: Content<'a>,
    #[serde(borrow)]
    repository: PayloadRepository<'a>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    head: End<'a>,
    #[serde(borrow)]
    base: End<'a>,
    #[serde(default, borrow)]
    closed_at: Option<Cow<'a, str>>,
}

/// One of the two branches of a pull request. The repository of the changes may have been deleted.
#[derive(Deserialize)]
struct End<'a> {
    #[serde(rename = "ref", borrow)]
    branch: Cow<'a, str>,
    #[serde(borrow)]
    repo: Option<RepositoryName<'a>>,
}

#[derive(Deserialize)]
struct RepositoryName<'a> {
    #[serde(borrow)]
    full_name: Cow<'a, str>,
}

/// The pull request in `body`, of a repository of `host`.
pub(super) fn parse(body: &[u8], host: &str) -> Result<Delivery, Invalid> {
    let payload: Payload<'_> = from_json("pull request", body)?;
    let is_open = match &*payload.action {
        "opened" | "reopened" | "edited" | "synchronize" | "ready_for_review" => true,
        "closed" => false,
        _ => return Ok(Delivery::Other),
    };
    let Content { head, base, closed_at } = payload.pull_request;
    let is_from_fork = match (&head.repo, &base.repo) {
        (Some(head), Some(base)) => head.full_name != base.full_name,
        _ => true,
    };
    if is_from_fork || payload.number == 0 {
        return Ok(Delivery::Other);
    }
    let closed_at = match closed_at {
        _ if is_open => None,
        Some(text) => Some(parse_time("pull_request.closed_at", &text)?),
        None => {
            return Err(Invalid(
                "pull_request.closed_at: is required when the pull request is closed".to_owned(),
            ));
        }
    };
    let branch = |field: &str, name: &str| Branch::parse(name).map_err(|error| Invalid(format!("{field}: {error}")));
    Ok(Delivery::PullRequest(PullRequest {
        repo: repo_id(&payload.repository, host)?,
        branch: branch("pull_request.base.ref", &base.branch)?,
        work_branch: branch("pull_request.head.ref", &head.branch)?,
        number: payload.number,
        closed_at,
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn delivery() -> Value {
        json!({
            "action": "opened",
            "number": 12,
            "pull_request": {
                "head": { "ref": "pool", "sha": "a", "repo": { "full_name": "acme/shop" } },
                "base": { "ref": "main", "repo": { "full_name": "acme/shop" } },
                "closed_at": "1970-01-01T00:01:00Z",
            },
            "repository": { "full_name": "acme/shop", "html_url": "https://github.com/acme/shop" },
        })
    }

    fn parsed(delivery: &Value) -> Result<Delivery, Invalid> {
        parse(delivery.to_string().as_bytes(), "github.com")
    }

    #[test]
    fn opening_and_closing_a_pull_request_is_read_and_other_actions_are_ignored() {
        for (action, expected) in [
            ("opened", Some(None)),
            ("reopened", Some(None)),
            ("synchronize", Some(None)),
            ("edited", Some(None)),
            ("closed", Some(Some(60))),
            ("labeled", None),
            ("", None),
        ] {
            let mut delivery = delivery();
            delivery["action"] = action.into();
            match parsed(&delivery).unwrap() {
                Delivery::PullRequest(read) => {
                    assert_eq!(Some(read.closed_at), expected, "{action}");
                    assert_eq!(
                        (
                            read.repo.as_str(),
                            read.branch.as_str(),
                            read.work_branch.as_str(),
                            read.number
                        ),
                        ("github.com/acme/shop", "main", "pool", 12)
                    );
                }
                other => assert_eq!((other, expected), (Delivery::Other, None), "{action}"),
            }
        }
    }

    #[test]
    fn the_branch_of_a_fork_is_not_the_repository_s() {
        let mut of_fork = delivery();
        of_fork["pull_request"]["head"]["repo"]["full_name"] = "eve/shop".into();
        assert_eq!(parsed(&of_fork), Ok(Delivery::Other));
        of_fork["pull_request"]["head"]["repo"] = Value::Null;
        assert_eq!(parsed(&of_fork), Ok(Delivery::Other));
    }

    #[test]
    fn an_invalid_pull_request_is_refused() {
        let mut elsewhere = delivery();
        elsewhere["repository"]["html_url"] = "https://example.com/acme/shop".into();
        assert!(parsed(&elsewhere).is_err());
        let mut unnamed = delivery();
        unnamed["pull_request"]["head"]["ref"] = "a..b".into();
        assert!(parsed(&unnamed).is_err());
        for time in [Value::Null, "yesterday".into(), "0001-01-01T00:00:00Z".into()] {
            let mut closed = delivery();
            closed["action"] = "closed".into();
            closed["pull_request"]["closed_at"] = time;
            assert!(parsed(&closed).is_err(), "{closed}");
        }
        for wrong in [json!({}), json!({ "action": "opened", "number": -1 }), json!([])] {
            assert!(parsed(&wrong).is_err(), "{wrong}");
        }
    }
}
