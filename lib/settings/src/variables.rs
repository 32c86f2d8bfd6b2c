//! All environment variables that Coord reads. `docs/reference/settings.md`, `.env.example` and the help of the
//! command line are generated from this list.

use std::sync::OnceLock;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: &'static str,
    /// Its meaning, as Markdown.
    pub purpose: &'static str,
    /// The default when it is unset, as Markdown.
    pub unset: &'static str,
    /// The programs that read it.
    pub readers: &'static [Reader],
}

/// A program that reads variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// The functions of a deployment.
    Function,
    /// `coord serve`.
    Serve,
    /// `coord graph`.
    Graph,
    /// The commands that agents and people run in a working copy, such as `coord mcp`, `coord hook` and `coord claim`.
    Agent,
}

use Reader::{Agent, Function, Graph, Serve};

const EVERYWHERE: &[Reader] = &[Function, Serve];
const FUNCTIONS: &[Reader] = &[Function];
const SERVE: &[Reader] = &[Serve];
const AGENT: &[Reader] = &[Agent];
const GRAPHS: &[Reader] = &[Function, Serve, Graph];

macro_rules! variables {
    ($($name:ident, $readers:expr, $purpose:literal, $unset:literal;)*) => {
        pub mod env_vars {
            $(#[doc = $purpose] pub const $name: &str = stringify!($name);)*
        }

        /// Every variable, in the order of the reference.
        pub static VARIABLES: &[Variable] = &[
            $(Variable { name: env_vars::$name, purpose: $purpose, unset: $unset, readers: $readers },)*
        ];
    };
}

variables! {
    UPSTASH_REDIS_REST_URL, FUNCTIONS, "Upstash's REST address; `coord serve` has the option `--upstash` instead", "the next pair";
    UPSTASH_REDIS_REST_TOKEN, EVERYWHERE, "Upstash's REST token, also for `--upstash`", "the next pair";
    KV_REST_API_URL, FUNCTIONS, "the same address, as Vercel's marketplace integration names it", "the next row but one";
    KV_REST_API_TOKEN, FUNCTIONS, "the same token", "the next row";
    REDIS_URL, FUNCTIONS, "any Redis or Valkey: `redis://` or `rediss://`", "503 OFFLINE, which names these variables";
    COORD_JWT_SECRET, EVERYWHERE, "HS256 secret of callers' JWTs, at least 32 bytes", "the next row";
    COORD_JWT_PUBLIC_KEY, EVERYWHERE, "public key of callers' JWTs in PEM, newlines also as `\\n`: RSA of 2048 to 4096 bits (RS256), EC P-256 (ES256) or Ed25519 (EdDSA)", "the next row";
    COORD_JWT_JWKS_URL, EVERYWHERE, "https address of the key set (JWKS) of the JWTs' issuer", "GitHub tokens alone; without GitHub, 401 for every caller";
    COORD_JWT_ISSUER, EVERYWHERE, "required `iss` of callers' JWTs", "503 with a public key or a key set; with a secret, `iss` is not checked";
    COORD_JWT_AUDIENCE, EVERYWHERE, "required `aud` of callers' JWTs", "`coord`";
    COORD_PUBLIC_GRAPH, EVERYWHERE, "`1`: graph and locks of a public repository can be read without a credential", "a credential is needed";
    CRON_SECRET, EVERYWHERE, "bearer token of the sweep, at least 32 bytes", "the sweep is refused (401); `coord serve` sweeps by itself";
    COORD_CORS_ORIGINS, EVERYWHERE, "origins of other sites whose pages may send requests, separated by commas: `https://coord.example.com,http://localhost:5173`", "none";
    COORD_HOSTS, EVERYWHERE, "hosts of the service for MCP, separated by commas: `coord.example.com,10.0.0.5:3000`; a host without a port is valid on all ports", "`localhost`, loopback addresses, and the next three rows";
    COORD_PROXIES, SERVE, "addresses and networks of reverse proxies in front, separated by commas: `10.0.0.5,172.18.0.0/16`; the callers are those that they name in `X-Forwarded-For`, and `COORD_MAX_CONNECTIONS_PER_ADDRESS` does not hold for them", "none";
    COORD_MAX_CONNECTIONS, SERVE, "maximum open connections of all ports together, at least 1; fewer where the limit of open files is lower", "4096";
    COORD_MAX_CONNECTIONS_PER_ADDRESS, SERVE, "maximum open connections from one address, at least 1; an IPv6 network of 64 bits is one address, and loopback addresses are not counted", "a quarter of the above";
    VERCEL_PROJECT_PRODUCTION_URL, FUNCTIONS, "the project's host, which Vercel sets", "the next row";
    VERCEL_BRANCH_URL, FUNCTIONS, "the branch's host, which Vercel sets", "the next row";
    VERCEL_URL, FUNCTIONS, "the deployment's host, which Vercel sets", "`COORD_HOSTS` alone";
    GITHUB_TOKEN, EVERYWHERE, "token with which the service reads repositories", "functions accept JWTs alone; `coord serve --github` has 60 requests an hour";
    GITHUB_APP_ID, EVERYWHERE, "id of a GitHub App that reads them instead", "the token";
    GITHUB_APP_PRIVATE_KEY, EVERYWHERE, "RSA key of the App in PEM; newlines may be `\\n`", "the token";
    GITHUB_API_URL, EVERYWHERE, "address of GitHub's API: `https://HOST/api/v3` of an Enterprise Server", "`https://api.github.com`";
    COORD_REPOSITORIES, EVERYWHERE, "the only repositories that are served: `OWNER/NAME` and `OWNER/*` on GitHub, `HOST/OWNER/NAME` and `HOST/OWNER/*` elsewhere, separated by commas", "every repository that the service can read, so each public one; with JWTs alone, every repository that a token is valid for";
    COORD_GITHUB_SCOPE, EVERYWHERE, "`repo` or `public_repo`: the scope that OAuth tokens and classic personal tokens of callers must have", "any scope";
    GITHUB_WEBHOOK_SECRET, EVERYWHERE, "secret with which GitHub signs the deliveries of its webhook", "deliveries are refused";
    COORD_HEAD_TTL_SECONDS, EVERYWHERE, "seconds after which the head of a branch on GitHub is fetched again, 1 to 3,600", "10";
    COORD_HEAD_MAX_AGE_SECONDS, EVERYWHERE, "maximum age of a head in seconds for a claim to write while GitHub cannot be queried", "60";
    COORD_LIMIT_HOLDER_PER_MINUTE, EVERYWHERE, "requests a minute of one holder (an agent) in one repository; a third may come at once; 0 is no limit", "300";
    COORD_LIMIT_PERSON_PER_MINUTE, EVERYWHERE, "the same for all agents and tokens of one person together", "five times the above";
    COORD_LIMIT_REPOSITORY_PER_MINUTE, EVERYWHERE, "the same for all holders together", "6000";
    COORD_LOCK_TTL_SECONDS, EVERYWHERE, "seconds that a lock is held unless it is renewed, 1 to 86,400", "300";
    COORD_LOCK_TTL_MAX_SECONDS, EVERYWHERE, "maximum `ttl_seconds` of a repository's `.coord.toml`, 1 to 86,400", "3600";
    COORD_QUEUE_PATIENCE, EVERYWHERE, "seconds for which a waiting claim lets later ones take its files, before it holds them back, 1 to 86,400", "180";
    COORD_NEIGHBOR_POLICY, EVERYWHERE, "`block`, `interface`, `warn` or `off`: the effect of a WRITING lock on a neighbor, held by someone else, on a claim to write, unless `.coord.toml` sets it", "`interface`";
    COORD_INTENT_POLICY, EVERYWHERE, "`optional` or `required`: whether each claim to write has to cite an intent", "`optional`";
    COORD_HANDSHAKE, EVERYWHERE, "`session` or `prompt`: whether an intent that an agent has selected outlives its next prompt", "`session`";
    COORD_INTENT_MAX_FILES, EVERYWHERE, "maximum files of a branch that the scope of an intent may cover, at least 1", "100";
    COORD_INTENT_IDLE_SECONDS, EVERYWHERE, "seconds of inactivity after which an intent stops owning its files, at least 1", "28800";
    COORD_BREAKER_CALLS, EVERYWHERE, "block an intent after this many identical tool calls in a row; 0 is no limit", "3";
    COORD_APPROVERS, EVERYWHERE, "logins, separated by commas, with the rights of a person: unblock an intent, allow two to overlap, complete one by force, raise a budget, take over files, force-release others' locks", "everyone with the right to push";
    COORD_LEDGER_MAX_LINES, EVERYWHERE, "maximum lines of a ledger, at least 1,000; the oldest sealed ones go", "20000";
    COORD_LEDGER_KEY, EVERYWHERE, "private Ed25519 key that signs checkpoints of the ledger: `PRIVATE+KEY+NAME+ID+BASE64`", "checkpoints are not signed";
    COORD_TASK_LEASE_SECONDS, EVERYWHERE, "seconds that the claim of a task lasts unless the request says otherwise, 30 to 86,400", "900";
    COORD_POLL_MAX_SECONDS, EVERYWHERE, "maximum seconds that a request for messages or for the next task waits, 0 to 20", "20";
    COORD_GRAPH_MAX_FILES, GRAPHS, "maximum files of code in one graph", "500000";
    COORD_GRAPH_MAX_BYTES, GRAPHS, "maximum bytes of code in one graph", "4294967296";
    COORD_GRAPH_MAX_IMPORTS, GRAPHS, "maximum imports in one graph: a million need some 200 MB of memory", "1000000";
    COORD_GRAPH_MAX_FILE_BYTES, GRAPHS, "largest file that is read for its imports", "4194304";
    COORD_URL, AGENT, "address of the server that agents of this machine ask; `git config coord.url` in a repository is the same, once `coord trust` has confirmed it", "the `coord serve` of the repository, which is started if none runs";
    COORD_TOKEN, AGENT, "the caller's token: a GitHub token or a JWT", "the next row";
    COORD_TOKEN_FILE, AGENT, "file that has this token alone; `git config coord.tokenFile` is the same, once `coord trust` has confirmed it", "no credential, which a `coord serve` on the same machine does not need";
    COORD_BRANCH, AGENT, "branch that the work is for; `git config coord.branch` is the same", "the upstream of the checked-out branch under another name, or else the default branch";
    COORD_AGENT, AGENT, "`agent_id` of the caller", "one for each session of an agent";
    COORD_PORT, AGENT, "port on which a `coord serve` that starts by itself listens; `git config --global coord.port` is the same", "3000, or the next free port";
    COORD_TEAM, AGENT, "team that `coord team`, `coord task` and `coord message` are about; `OPENCODE_TEAM_NAME` is the same", "the only team that the agent is in";
    OPENCODE_AGENT_ID, AGENT, "`agent_id` of the caller where `COORD_AGENT` is unset, as the plugin opencode-teams has it", "one for each session of an agent";
    OPENCODE_AGENT_NAME, AGENT, "name of the agent, as the tools of `coord mcp --tools opencode` show it", "its handle";
    OPENCODE_AGENT_TYPE, AGENT, "kind of the agent, shown beside that", "`agent`";
    OPENCODE_TEAMS_DIR, AGENT, "folder of the plugin's files for `coord team sync`, `export` and `import`", "the next row";
    OPENCODE_PROJECT_ROOT, AGENT, "project whose `.opencode/opencode-teams` is this folder", "the nearest folder upwards with `.git`, `package.json`, `opencode.json` or `.opencode`";
    COORD_BYPASS, AGENT, "`1`: `coord guard` lets a commit or a push pass without a check, and notes it", "it checks";
    RUST_LOG, GRAPHS, "log level, or levels by module: error, warn, info, debug, trace", "`info`; `coord serve` begins at `warn`";
}

/// The list as a Markdown table.
pub fn reference_table() -> String {
    let mut table = "| variable | what it is | when it is unset |\n|---|---|---|\n".to_owned();
    for variable in VARIABLES {
        let Variable {
            name, purpose, unset, ..
        } = variable;
        table.push_str(&format!("| `{name}` | {purpose} | {unset} |\n"));
    }
    table
}

/// The variables of `reader` as a section of a command's help: each name on a separate line, then indented text. It is
/// built once, because every start of `coord` needs it for several commands.
pub fn help(reader: Reader) -> &'static str {
    static SECTIONS: [OnceLock<String>; 4] = [const { OnceLock::new() }; 4];
    SECTIONS[reader as usize].get_or_init(|| format_section(reader))
}

fn format_section(reader: Reader) -> String {
    const WIDTH: usize = 92;
    let mut text = "Environment:\n".to_owned();
    for variable in VARIABLES.iter().filter(|variable| variable.readers.contains(&reader)) {
        let Variable {
            name, purpose, unset, ..
        } = variable;
        text.push_str(&format!("  {name}"));
        let description = format!("{purpose} [unset: {unset}]").replace('`', "");
        let mut column = WIDTH;
        for word in description.split(' ') {
            if column + word.len() >= WIDTH {
                text.push_str("\n         ");
                column = 9;
            }
            text.push_str(&format!(" {word}"));
            column += 1 + word.len();
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    use super::*;

    const UPDATE: &str = "COORD_UPDATE_DOCS=1 cargo test -p coord-settings --lib variables";

    fn root(file: &str) -> std::path::PathBuf {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(file)
    }

    #[test]
    fn the_reference_has_the_list_as_it_is() {
        let path = root("docs/reference/settings.md");
        let text = fs::read_to_string(&path).unwrap();
        let begin = text.find("| variable |").unwrap();
        let end = begin + text[begin..].find("\n\n").unwrap() + 1;
        if std::env::var_os("COORD_UPDATE_DOCS").is_some() {
            fs::write(
                &path,
                format!("{}{}{}", &text[..begin], reference_table(), &text[end..]),
            )
            .unwrap();
            return;
        }
        assert!(
            text[begin..end] == reference_table(),
            "docs/reference/settings.md does not have the list of variables; write it anew with\n    {UPDATE}"
        );
    }

    /// `.env.example` with the listed variables: comments written by hand remain, those of the list are those of today.
    fn example(text: &str) -> String {
        let comment = |variable: &Variable| {
            let Variable { purpose, unset, .. } = variable;
            format!("# {purpose} [unset: {unset}]").replace('`', "")
        };
        let mut missing: BTreeMap<&str, &Variable> =
            VARIABLES.iter().map(|variable| (variable.name, variable)).collect();
        let mut lines: Vec<String> = Vec::new();
        for line in text.lines() {
            let name = line.split_once('=').map_or("", |(name, _)| name);
            if line.starts_with('#') || name.is_empty() {
                lines.push(line.to_owned());
                continue;
            }
            let listed = missing.remove(name);
            let is_from_list = lines
                .pop_if(|above| above.ends_with(']') && above.contains("[unset: "))
                .is_some();
            if let Some(variable) = listed {
                lines.extend(is_from_list.then(|| comment(variable)));
                lines.push(line.to_owned());
            }
        }
        for variable in VARIABLES.iter().filter(|variable| missing.contains_key(variable.name)) {
            lines.push(comment(variable));
            lines.push(format!("{}=", variable.name));
        }
        lines.join("\n") + "\n"
    }

    #[test]
    fn the_example_of_an_environment_names_each_variable_and_no_other() {
        let path = root(".env.example");
        let text = fs::read_to_string(&path).unwrap();
        if std::env::var_os("COORD_UPDATE_DOCS").is_some() {
            fs::write(&path, example(&text)).unwrap();
            return;
        }
        assert!(
            text == example(&text),
            ".env.example does not have the list of variables; write it anew with\n    {UPDATE}"
        );
    }
}
