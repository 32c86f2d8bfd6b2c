//! Measures what redis-server spends on one request, as a function and as a script: the processor time of its process
//! over pipelined commands, all in turn within one run, beside a bare GET.

use anyhow::{Context, Result, bail, ensure};
use coord_domain::team::{Handle, TeamName};
use coord_domain::{FilePath, NeighborPolicy};
use coord_intents::intent::Intent;
use coord_intents_state::intents::{
    SelectOutcome, Selection, StoredIntent, WriteOutcome, WrittenIntent, registry, select_intent, write_intent,
};
use coord_scopes::Scope;
use coord_settings::policy::file::PolicyFile;
use coord_settings::policy::{Policy, PolicyText};
use coord_state as state;
use coord_state::admission::{Admitted, RememberedUses};
use coord_state::heads::FetchedHead;
use coord_state::libraries::library;
use coord_state::locks::{ClaimOutcome, GateTerms, Judgment, PolicyTerms, ReleaseOutcome};
use coord_store::redis::RedisStore;
use coord_store::{Request, Store};
use coord_teams_state::teams::{NewMember, TeamTerms, create_team};
use coord_test_worlds::script_agent::ScriptAgent;

use crate::process::Process;
use crate::recorded::Recorder;
use crate::redis_link::{RedisLink, encode};
use crate::report::{progress, row, table};

/// Commands on the way at once, and how many make a round of each kind.
const PIPELINED: usize = 100;
const ROUND: usize = 10_000;
const ROUNDS: usize = 7;

/// The requested file.
fn file() -> FilePath {
    FilePath::parse("src/a.ts").expect("a path")
}

/// Makes the branch known, and everything that the first requests in a repository do alone.
async fn begin(agent: &ScriptAgent, store: &dyn Store) -> Result<()> {
    let learnt = FetchedHead::of(&agent.head, &[]);
    state::heads::record_head(store, &agent.repo, &agent.branch, &learnt).await?;
    agent.check(store, &[file()]).await?;
    for _ in 0..2 {
        let claimed = agent.claim(store, &[file()]).await?;
        ensure!(matches!(claimed, ClaimOutcome::Claimed(_)), "{claimed:?}");
        let released = agent.release(store, &[file()], true).await?;
        ensure!(matches!(released, ReleaseOutcome::Released(_)), "{released:?}");
    }
    Ok(())
}

/// Stores a policy, begins an intent that covers the file, and makes a team that the agent leads.
async fn use_features(agent: &mut ScriptAgent, store: &dyn Store) -> Result<()> {
    let text = PolicyText {
        file: PolicyFile::parse(b"shared = [\"docs/**\"]\nneighbors = \"block\"")
            .ok()
            .context("the policy")?,
        ..PolicyText::default()
    };
    let (stored, digest) = text.to_stored().context("a policy is stored")?;
    let graph = state::builds::keys::graph(&agent.repo, &agent.branch);
    let policy = ["HSET", &graph, "policy", &stored, "policy_digest", &digest];
    store.run(vec![Request::command(policy)]).await?;
    let kind = Policy::of(text).judge().kind(file().as_str());
    agent.policy = PolicyTerms {
        digest,
        kinds: vec![kind],
        ..PolicyTerms::of(NeighborPolicy::Block)
    };

    let intent = Intent {
        id: "COST".to_owned(),
        name: "A measurement".to_owned(),
        owned_scope: vec!["src/**".to_owned()],
        ..Intent::default()
    };
    let scope = Scope::parse(&intent.owned_scope).ok().context("the scope")?.digest();
    let stored = StoredIntent {
        intent,
        created_by: "ann".to_owned(),
        changed_by: None,
    };
    let written = WrittenIntent {
        seen: None,
        stored: &stored,
        digest: &scope,
        is_for_holders: true,
        change: "Written",
        origin: GateTerms::NONE.origin,
        is_person: false,
    };
    let outcome = write_intent(store, &agent.admission(&[]), &written).await?;
    ensure!(
        matches!(outcome, Admitted::Outcome(WriteOutcome::Written(_))),
        "{outcome:?}"
    );
    let selection = Selection {
        id: "COST",
        seen: &registry(&agent.repo, &agent.holder).run(store).await?.version,
        payload: r#"{"tool_name":"select_active_intent"}"#,
        result: r#"{"status":"SUCCESS","output_summary":"Selected"}"#,
        origin: GateTerms::NONE.origin,
    };
    let outcome = select_intent(store, &agent.admission(&[]), &selection).await?;
    ensure!(
        matches!(outcome, Admitted::Outcome(SelectOutcome::Selected(_))),
        "{outcome:?}"
    );
    agent.judgment = Some(Judgment {
        intent: "COST".to_owned(),
        scope,
        letters: "C".to_owned(),
        ..Judgment::default()
    });

    let terms = TeamTerms {
        admission: agent.admission(&[]),
        team: &TeamName::parse("cost").context("the team")?,
        is_assumed: false,
    };
    let leader = NewMember {
        handle: &Handle::parse("ann").context("the handle")?,
        name: "ann",
        kind: "",
    };
    let outcome = create_team(store, &terms, &leader, false, "").await?;
    let is_made = matches!(outcome, Admitted::Outcome(_));
    ensure!(is_made, "{outcome:?}");
    Ok(())
}

/// The same requests as they are sent: as functions, and as scripts.
fn encoded(requests: &[Request]) -> Result<[Vec<Vec<u8>>; 2]> {
    let mut forms = [Vec::new(), Vec::new()];
    for request in requests {
        let Request::Script { script, keys, args } = request else {
            bail!("a request is not a script");
        };
        let count = keys.len().to_string();
        let function = library().function("", script);
        for (form, head) in forms.iter_mut().zip([["FCALL", &function], ["EVALSHA", script.sha()]]) {
            let mut words: Vec<&[u8]> = vec![head[0].as_bytes(), head[1].as_bytes(), count.as_bytes()];
            words.extend(keys.iter().map(String::as_bytes));
            words.extend(args.iter().map(Vec::as_slice));
            form.push(encode(&words));
        }
    }
    Ok(forms)
}

/// Microseconds of the server for one run of `commands`, over one round.
async fn cost(link: &mut RedisLink, server: &Process, commands: &[Vec<u8>]) -> Result<f64> {
    let before = server.processor_time()?;
    let mut run = 0;
    while run < ROUND {
        let runs = PIPELINED / commands.len();
        link.pipeline(&commands.concat().repeat(runs), runs * commands.len())
            .await?;
        run += runs;
    }
    let spent = server.processor_time()? - before;
    Ok(spent.as_secs_f64() * 1e6 / run as f64)
}

/// The commands of a check, and of a claim and its release, in both forms.
async fn commands_of(agent: &ScriptAgent, used: &str, link: &mut RedisLink) -> Result<Vec<(String, Vec<Vec<u8>>)>> {
    let recorder = Recorder::default();
    // Only the recorded requests are wanted.
    let _ = agent.check(&recorder, &[file()]).await;
    let _ = agent.claim(&recorder, &[file()]).await;
    let _ = agent.release(&recorder, &[file()], true).await;
    let requests = recorder.requests();
    ensure!(requests.len() == 3, "{} requests instead of three", requests.len());
    for request in &requests {
        if let Request::Script { script, .. } = request {
            link.ask(&["SCRIPT", "LOAD", script.source()]).await?;
        }
    }
    let [checks, posts] = [encoded(&requests[..1])?, encoded(&requests[1..])?];
    let mut commands = Vec::new();
    for (operation, forms) in [("a check", checks), ("a claim and its release", posts)] {
        for (form, encoded) in ["FCALL", "EVALSHA"].into_iter().zip(forms) {
            commands.push((format!("{operation}, by {form}{used}"), encoded));
        }
    }
    Ok(commands)
}

pub async fn measure(server: &Process) -> Result<()> {
    progress("measuring what redis-server spends");
    let store = RedisStore::connect(&format!("redis://{}", server.address))?;
    let mut plain = ScriptAgent::new("https://example.com/cost/plain")?;
    let mut featured = ScriptAgent::new("https://example.com/cost/features")?;
    for agent in [&mut plain, &mut featured] {
        agent.uses = Some(RememberedUses::default().of(&agent.repo));
    }
    use_features(&mut featured, &store).await?;
    let mut link = RedisLink::open(server.address).await?;
    link.ask(&["SET", "k", "v"]).await?;
    let mut kinds = vec![("GET".to_owned(), vec![encode(&[b"GET", b"k"])])];
    for (agent, used) in [(&plain, ""), (&featured, ", features used")] {
        begin(agent, &store).await?;
        kinds.extend(commands_of(agent, used, &mut link).await?);
    }
    let mut costs = vec![Vec::new(); kinds.len()];
    for _ in 0..ROUNDS {
        for ((_, commands), costs) in kinds.iter().zip(&mut costs) {
            costs.push(cost(&mut link, server, commands).await?);
        }
    }
    table(
        "What redis-server spends",
        "Microseconds of its process for one, pipelined, all in turn. Features used: the repository has a policy, the agent \
         cites the intent that it works on, and leads a team.",
        "what | least | median",
    );
    for ((name, _), mut costs) in kinds.iter().zip(costs) {
        costs.sort_by(f64::total_cmp);
        row(format_args!("{name} | {:.1} | {:.1}", costs[0], costs[ROUNDS / 2]));
    }
    Ok(())
}
