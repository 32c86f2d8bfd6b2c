//! The server, its store and its source, and the token.

use coord_agent::local_server;
use coord_agent::options::{AgentArgs, UnconfirmedServer};
use coord_agent::work::Work;
use coord_agent::workplace::Workplace;
use coord_protocol::{ClientError, ErrorCode, LocksFilter};
use coord_settings::env_vars;
use serde_json::Value as Json;

use super::finding::Finding;
use super::head::{check_head, see_the_log};

/// The command that confirms the server that the repository names.
const TRUST: &str = "coord trust";

/// The command that sets the token.
fn token_fix() -> String {
    format!("export {}=$(gh auth token)", env_vars::COORD_TOKEN)
}

/// Checks that a token is set, and can be read.
pub(super) fn check_token(args: &AgentArgs, work: &Work) -> Finding {
    let is_remote = args.url(&work.working_copy).is_some();
    match args.token(&work.working_copy) {
        Err(error) if error.is::<UnconfirmedServer>() => Finding::wrong("token", format!("{error:#}"), TRUST),
        Err(error) => Finding::wrong("token", format!("{error:#}"), token_fix()),
        Ok(Some(_)) if is_remote => Finding::ok("token", "a token is set"),
        Ok(Some(_)) => Finding::ok(
            "token",
            "a token is set; the server of this clone needs none, and does not get it",
        ),
        Ok(None) if is_remote => Finding::warn("token", "no token is set", token_fix()),
        Ok(None) => Finding::ok("token", "none is set, and the server of this clone needs none"),
    }
}

/// The finding where the address cannot be used, or the server of the clone does not start.
pub(super) fn open_failure(args: &AgentArgs, work: &Work, error: &anyhow::Error) -> Finding {
    if error.is::<UnconfirmedServer>() {
        return Finding::wrong("server", format!("{error:#}"), TRUST);
    }
    let fix = match args.url(&work.working_copy) {
        Some(_) => change_server_fix(args),
        None => match local_server::other_store(&work.working_copy) {
            Some(store) => format!("start coord serve again with the {store}"),
            None => "coord serve".to_owned(),
        },
    };
    Finding::wrong("server", format!("{error:#}"), fix)
}

/// The command that sets another server, in the setting that the current one comes from.
fn change_server_fix(args: &AgentArgs) -> String {
    match args.url {
        Some(_) => format!("export {}=https://YOUR-PROJECT.vercel.app", env_vars::COORD_URL),
        None => "coord init --url https://YOUR-PROJECT.vercel.app".to_owned(),
    }
}

/// The command that stops the server of the clone; the next command starts a new one.
fn stop_server_fix(work: &Work) -> String {
    match local_server::read_announcement(&work.working_copy) {
        Some(announced) if !announced.is_elsewhere() => format!("kill {}", announced.process),
        _ => "end coord serve, and run this again".to_owned(),
    }
}

/// Checks the server's report, access to the repository, and the head of the branch.
pub(super) async fn check(args: &AgentArgs, workplace: &Workplace) -> Vec<Finding> {
    let health = match workplace.connection.client.health().await {
        Ok(health) => health,
        Err(error) => {
            let sentence = anyhow::Error::msg(workplace.describe_error(&error));
            return vec![open_failure(args, &workplace.work, &sentence)];
        }
    };
    let log = see_the_log(workplace);
    let mut findings = vec![
        check_version(args, workplace, &health),
        check_store(&health, &log),
        check_source(&health, &log),
    ];
    let rivals = workplace.rivals().into_iter();
    findings.extend(rivals.map(|rival| Finding::warn("clones", rival.sentence, rival.fix)));
    let access = check_access(workplace).await;
    let has_access = access.fix.is_none();
    findings.push(access);
    if has_access {
        findings.extend(check_head(workplace).await);
    }
    findings
}

fn check_version(args: &AgentArgs, workplace: &Workplace, health: &Json) -> Finding {
    let own_version = env!("CARGO_PKG_VERSION");
    let address = &workplace.connection.address;
    let owner = workplace.connection.server_owner();
    let owner = owner.map(|owner| format!(", {owner}")).unwrap_or_default();
    match health["version"].as_str() {
        Some(version) if version == own_version => {
            Finding::ok("server", format!("{address}{owner}, version {version}"))
        }
        Some(version) => Finding::warn(
            "server",
            format!("{address}{owner} is version {version}, and this command is {own_version}"),
            match workplace.connection.is_local {
                true => stop_server_fix(&workplace.work),
                false => "cargo install --locked --path cli".to_owned(),
            },
        ),
        None => Finding::wrong(
            "server",
            format!("{address} is not a Coord server"),
            change_server_fix(args),
        ),
    }
}

fn check_store(health: &Json, log: &str) -> Finding {
    let store = &health["store"];
    let cause = store["cause"]
        .as_str()
        .map(|cause| format!(": {}", cause.replace('_', " ")));
    let cause = cause.unwrap_or_default();
    match (
        store["status"].as_str().unwrap_or("unknown"),
        store["promises"].as_str(),
    ) {
        ("ok", Some("broken")) => {
            let broken: Vec<&str> = store["broken_promises"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Json::as_str)
                .collect();
            let sentence = format!("it works, but may lose locks: {}", broken.join(", ").replace('_', " "));
            let fix = "set appendonly yes and maxmemory-policy noeviction in Redis";
            Finding::warn("store", sentence, fix)
        }
        ("ok", Some("kept")) => Finding::ok("store", "it works, and keeps its data"),
        ("ok", _) => Finding::ok("store", "it works; whether it keeps its data is not known"),
        ("not_configured", _) => Finding::wrong(
            "store",
            "the server has none",
            format!("set {} of the deployment", env_vars::UPSTASH_REDIS_REST_URL),
        ),
        ("read_only", _) => Finding::wrong("store", format!("nothing can be claimed{cause}"), log),
        (_, _) => Finding::wrong("store", format!("it does not answer{cause}"), log),
    }
}

fn check_source(health: &Json, log: &str) -> Finding {
    match health["source"]["status"].as_str().unwrap_or("unknown") {
        "ok" => Finding::ok("source", "repositories can be read"),
        "unknown" => Finding::ok("source", "no repository was read yet"),
        "none" => Finding::ok(
            "source",
            "the server reads no repository: heads and graphs are those in the store",
        ),
        "limited" => Finding::warn(
            "source",
            "GitHub's rate limit is used up",
            "wait, or give the server a separate token",
        ),
        "not_configured" => Finding::warn(
            "source",
            "the server reads GitHub without a token",
            format!("set {} of the deployment", env_vars::GITHUB_TOKEN),
        ),
        _ => Finding::wrong("source", "repositories cannot be read", log),
    }
}

/// Checks that the server accepts the caller, and serves the repository.
async fn check_access(workplace: &Workplace) -> Finding {
    let repo_url = workplace.work.repo_url();
    let filter = LocksFilter {
        is_own: true,
        ..LocksFilter::default()
    };
    let error = match workplace.connection.client.locks(&repo_url, &filter).await {
        Ok(_) => return Finding::ok("access", "the server accepts you, and serves this repository"),
        Err(error) => error,
    };
    let sentence = workplace.describe_error(&error);
    let fix = match &error {
        ClientError::Refused { error, .. } => match error.error {
            ErrorCode::Unauthorized => token_fix(),
            ErrorCode::ForbiddenRepository => "gh auth login".to_owned(),
            ErrorCode::UnknownRepository if workplace.connection.is_local => stop_server_fix(&workplace.work),
            ErrorCode::UnknownRepository => format!("add it to {} of the deployment", env_vars::COORD_REPOSITORIES),
            ErrorCode::RateLimited => "wait a minute".to_owned(),
            _ => see_the_log(workplace),
        },
        _ => see_the_log(workplace),
    };
    Finding::wrong("access", sentence, fix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::finding::State;
    use serde_json::json;

    #[test]
    fn each_state_of_a_store_and_a_source_has_its_sentence() {
        let mut lines = Vec::new();
        for health in [
            json!({ "store": { "status": "ok", "promises": "kept" }, "source": { "status": "ok" } }),
            json!({ "store": { "status": "ok", "promises": "unknown" }, "source": { "status": "unknown" } }),
            json!({ "store": { "status": "ok", "promises": "broken", "broken_promises": ["evicts", "not_persistent"] },
                    "source": { "status": "limited" } }),
            json!({ "store": { "status": "read_only", "cause": "out_of_memory" }, "source": { "status": "none" } }),
            json!({ "store": { "status": "down" }, "source": { "status": "not_configured" } }),
            json!({ "store": { "status": "not_configured" }, "source": { "status": "unreachable" } }),
            json!({}),
        ] {
            let log = "tail serve.log";
            for finding in [check_store(&health, log), check_source(&health, log)] {
                assert_eq!(finding.fix.is_none(), finding.state == State::Ok, "{finding:?}");
                let fix = finding.fix.unwrap_or_default();
                lines.push(format!(
                    "{:?} {}: {} [{fix}]",
                    finding.state, finding.subject, finding.found
                ));
            }
        }
        insta::assert_snapshot!(lines.join("\n"));
    }
}
