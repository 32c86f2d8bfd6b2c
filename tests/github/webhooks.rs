//! Deliveries as GitHub publishes them, by `tests/github/fetch`.

use coord_domain::{Branch, RepoId};
use coord_sources::github::webhook::{Delivery, Push, parse, payload};
use serde_json::Value;

use crate::schema::published;
use crate::{branch, sha};

/// Each service whose deliveries are published, and the host of its repositories.
const SERVICES: [(&str, &str); 6] = [
    ("api.github.com", "github.com"),
    ("ghes-31", "octocoders.github.io"),
    ("ghes-32", "octocoders.github.io"),
    ("ghes-33", "octocoders.github.io"),
    ("ghes-34", "octocoders.github.io"),
    ("ghes-35", "octocoders.github.io"),
];

/// Returns the content of a delivery, which is the same in both of its forms.
fn delivered(event: &str, example: &Value, host: &str) -> Delivery {
    let json = example.to_string();
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    let form = form.append_pair("payload", &json).finish();
    let read = |content_type: &str, body: &str| {
        let body = payload(content_type, body.as_bytes()).unwrap();
        parse(event, &body, host).unwrap()
    };
    let delivery = read("application/json", &json);
    assert_eq!(read("application/x-www-form-urlencoded", &form), delivery);
    delivery
}

#[test]
fn every_published_delivery_is_understood() {
    let (mut pings, mut pushes, mut pull_requests, mut renamings, mut others) = (0, 0, 0, 0, 0);
    for (service, host) in SERVICES {
        let Some(events) = published(&format!("webhooks/{service}.json")) else {
            return;
        };
        for event in events.as_array().unwrap() {
            let name = event["name"].as_str().unwrap();
            for example in event["examples"].as_array().unwrap() {
                match name {
                    "ping" => {
                        pings += 1;
                        assert_eq!(delivered(name, example, host), Delivery::Ping);
                    }
                    "push" => {
                        pushes += 1;
                        check(example, host);
                    }
                    "pull_request" => {
                        pull_requests += 1;
                        check_pull_request(&delivered(name, example, host), example);
                    }
                    "repository" => {
                        // Some are of other servers.
                        let url = example["repository"]["html_url"].as_str().unwrap();
                        let host = url.split('/').nth(2).unwrap();
                        renamings += usize::from(check_renaming(&delivered(name, example, host), example));
                    }
                    _ => {
                        others += 1;
                        assert_eq!(delivered(name, example, host), Delivery::Other, "{name}");
                    }
                }
            }
        }
    }
    assert_eq!((pings, pushes, renamings), (11, 14, 6));
    assert!(pull_requests > 10 && others > 100, "{pull_requests} {others}");
}

/// Of the events of a repository, those count after which it is not found by its name before. Whether this is one.
fn check_renaming(delivery: &Delivery, example: &Value) -> bool {
    let (action, changes) = (example["action"].as_str().unwrap(), &example["changes"]);
    let full_name = example["repository"]["full_name"].as_str().unwrap();
    let (owner, name) = full_name.split_once('/').unwrap();
    let from = &changes["owner"]["from"];
    let former = match action {
        "renamed" => Some((owner, changes["repository"]["name"]["from"].as_str().unwrap())),
        "transferred" => {
            let login = from["user"]["login"].as_str();
            Some((login.or_else(|| from["organization"]["login"].as_str()).unwrap(), name))
        }
        "deleted" => Some((owner, name)),
        _ => None,
    };
    match (delivery, former) {
        (Delivery::Gone(repo), Some((owner, name))) => {
            let expected = format!("/{owner}/{name}").to_lowercase();
            assert!(repo.as_str().to_lowercase().ends_with(&expected), "{repo} {expected}");
            true
        }
        (delivery, former) => {
            assert!(
                *delivery == Delivery::Other && former.is_none(),
                "{action}: {delivery:?}"
            );
            false
        }
    }
}

/// Of a pull request from a branch of the repository, what opens, changes or closes it counts.
fn check_pull_request(delivery: &Delivery, example: &Value) {
    let end = |name: &str| &example["pull_request"][name];
    let is_own = end("head")["repo"]["full_name"] == end("base")["repo"]["full_name"];
    let counts = [
        "opened",
        "reopened",
        "edited",
        "synchronize",
        "ready_for_review",
        "closed",
    ];
    let action = example["action"].as_str().unwrap();
    match delivery {
        Delivery::PullRequest(read) => {
            assert!(is_own && counts.contains(&action), "{action}");
            assert_eq!(
                (
                    read.branch.as_str(),
                    read.work_branch.as_str(),
                    read.number,
                    read.closed_at.is_none()
                ),
                (
                    end("base")["ref"].as_str().unwrap(),
                    end("head")["ref"].as_str().unwrap(),
                    example["number"].as_u64().unwrap(),
                    action != "closed"
                )
            );
        }
        other => assert!(
            *other == Delivery::Other && !(is_own && counts.contains(&action)),
            "{action}: {other:?}"
        ),
    }
}

/// A push as it is published, and as one to a branch, should it be of a tag.
fn check(example: &Value, host: &str) {
    let reference = example["ref"].as_str().unwrap();
    let delivery = delivered("push", example, host);
    if reference.starts_with("refs/heads/") {
        check_push(&delivery, example, host);
    } else {
        assert_eq!(delivery, Delivery::Other);
        let mut example = example.clone();
        example["ref"] = reference.replace("refs/tags/", "refs/heads/").into();
        check_push(&delivered("push", &example, host), &example, host);
        // Of a repository that another host has.
        assert!(parse("push", example.to_string().as_bytes(), "git.example.com").is_err());
    }
}

fn check_push(delivery: &Delivery, example: &Value, host: &str) {
    let text = |field: &str| example[field].as_str().unwrap();
    let id = |field: &str| Some(sha(text(field))).filter(|id| id.as_str() != "0".repeat(40));
    let mut commits: Vec<_> = example["commits"].as_array().unwrap().iter().collect();
    commits.reverse();
    let expected = Push {
        repo: RepoId::parse(&format!("https://{host}/Codertocat/Hello-World")).unwrap(),
        number: example["repository"]["id"].as_u64(),
        branch: branch_of(text("ref")),
        before: id("before"),
        after: id("after"),
        is_forced: example["forced"].as_bool().unwrap(),
        commits: commits
            .iter()
            .map(|commit| sha(commit["id"].as_str().unwrap()))
            .collect(),
        pushed_at: example["repository"]["pushed_at"].as_i64().unwrap(),
    };
    assert_eq!(*delivery, Delivery::Push(expected));
    assert_eq!(id("before").is_none(), example["created"].as_bool().unwrap());
    assert_eq!(id("after").is_none(), example["deleted"].as_bool().unwrap());
}

fn branch_of(reference: &str) -> Branch {
    branch(reference.strip_prefix("refs/heads/").unwrap())
}
