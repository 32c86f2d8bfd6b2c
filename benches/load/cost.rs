//! Measures what redis-server spends on one request, as a function and as a script: the processor time of its process
//! over pipelined commands, all in turn within one run, beside a bare GET.

use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use coord_domain::team::{Handle, TeamName};
use coord_domain::{Branch, CommitSha, FilePath, Holder, LockMode, LockReason, NeighborPolicy, RepoId, UserId};
use coord_intents::intent::Intent;
use coord_scopes::Scope;
use coord_settings::policy::file::PolicyFile;
use coord_settings::policy::{Policy, PolicyText};
use coord_state as state;
use coord_state::admission::{AdmissionTerms, Admitted, KnownUses, RepositoryUses};
use coord_state::heads::FetchedHead;
use coord_state::intents::{
    SelectOutcome, Selection, StoredIntent, WriteOutcome, WrittenIntent, registry, select_intent, write_intent,
};
use coord_state::libraries::LIBRARY;
use coord_state::locks::{
    ClaimOutcome, ClaimTerms, ClaimedRepositories, GateTerms, Judgement, PolicyTerms, Release, ReleaseOutcome,
};
use coord_state::teams::{NewMember, TeamTerms, create_team};
use coord_store::redis::RedisStore;
use coord_store::{Request, Store};

use crate::process::Process;
use crate::recorded::Recorder;
use crate::redis_link::{RedisLink, encode};
use crate::report::{progress, row, table};

/// Commands on the way at once, and how many make a round of each kind.
const PIPELINED: usize = 100;
const ROUND: usize = 10_000;
const ROUNDS: usize = 7;

const HEAD: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// Requests of one agent, in a repository without a graph.
struct Agent {
    repo: RepoId,
    branch: Branch,
    head: CommitSha,
    holder: Holder,
    message: LockReason,
    paths: [FilePath; 1],
    policy: PolicyTerms,
    /// The intent's verdict on the file, if the agent works on an intent.
    judgement: Option<Judgement>,
    claimed: ClaimedRepositories,
    uses: Arc<RepositoryUses>,
}

impl Agent {
    /// In a repository that uses no intents, teams or policy.
    fn new(repo: &str) -> Result<Self> {
        let repo = RepoId::parse(repo).context("the repository")?;
        Ok(Agent {
            uses: KnownUses::default().of(&repo),
            repo,
            branch: Branch::parse("main").context("the branch")?,
            head: CommitSha::parse(HEAD).context("the head")?,
            holder: Holder {
                user_id: UserId::parse("ann").context("the user")?,
                user_name: "ann".to_owned(),
                agent_id: None,
            },
            message: LockReason::parse("Measured").context("the reason")?,
            paths: [FilePath::parse("src/a.ts").context("the file")?],
            policy: PolicyTerms::of(NeighborPolicy::Block),
            judgement: None,
            claimed: ClaimedRepositories::default(),
        })
    }

    fn entry<'a>(&'a self, known: &'a [CommitSha]) -> AdmissionTerms<'a> {
        AdmissionTerms {
            uses: &self.uses,
            ..AdmissionTerms::of(&self.repo, &self.branch, &self.holder, Some(&self.head), known)
        }
    }

    fn gate(&self) -> GateTerms<'_> {
        GateTerms {
            cited: self.judgement.as_ref().map(|judgement| judgement.intent.as_str()),
            judgement: self.judgement.as_ref(),
            ..GateTerms::NONE
        }
    }

    /// Makes the branch known, and everything that the first requests in a repository do alone.
    async fn begin(&self, store: &dyn Store) -> Result<()> {
        let learnt = FetchedHead::of(&self.head, &[]);
        state::heads::record_head(store, &self.repo, &self.branch, &learnt).await?;
        self.check(store).await?;
        for _ in 0..2 {
            self.claim(store).await?;
            self.release(store).await?;
        }
        Ok(())
    }

    /// Stores a policy, begins an intent that covers the file, and makes a team that the agent leads.
    async fn use_features(&mut self, store: &dyn Store) -> Result<()> {
        let text = PolicyText {
            file: PolicyFile::parse(b"shared = [\"docs/**\"]\nneighbors = \"block\"")
                .ok()
                .context("the policy")?,
            ..PolicyText::default()
        };
        let (stored, digest) = text.stored().context("a policy is stored")?;
        let graph = state::builds::keys::graph(&self.repo, &self.branch);
        let policy = ["HSET", &graph, "policy", &stored, "policy_digest", &digest];
        store.run(vec![Request::command(policy)]).await?;
        let kind = Policy::of(text).judge().kind(self.paths[0].as_str());
        self.policy = PolicyTerms {
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
        let outcome = write_intent(store, &self.entry(&[]), &written).await?;
        ensure!(
            matches!(outcome, Admitted::Outcome(WriteOutcome::Written(_))),
            "{outcome:?}"
        );
        let selection = Selection {
            id: "COST",
            seen: &registry(&self.repo, &self.holder).run(store).await?.version,
            payload: r#"{"tool_name":"select_active_intent"}"#,
            result: r#"{"status":"SUCCESS","output_summary":"Selected"}"#,
            origin: GateTerms::NONE.origin,
        };
        let outcome = select_intent(store, &self.entry(&[]), &selection).await?;
        ensure!(
            matches!(outcome, Admitted::Outcome(SelectOutcome::Selected(_))),
            "{outcome:?}"
        );
        self.judgement = Some(Judgement {
            intent: "COST".to_owned(),
            scope,
            letters: "C".to_owned(),
            ..Judgement::default()
        });

        let terms = TeamTerms {
            admission: self.entry(&[]),
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

    async fn check(&self, store: &dyn Store) -> Result<()> {
        let known = [self.head.clone()];
        let (entry, gate) = (self.entry(&known), &self.gate());
        let checked =
            state::locks::check_status(store, &entry, &self.paths, LockMode::Writing, &self.policy, gate).await?;
        match checked {
            Admitted::Outcome(_) => Ok(()),
            Admitted::Denied(denial) => bail!("a check was denied: {denial:?}"),
        }
    }

    async fn claim(&self, store: &dyn Store) -> Result<()> {
        let known = [self.head.clone()];
        let wanted = ClaimTerms {
            claim: LockMode::Writing,
            policy: &self.policy,
            agent_head: &self.head,
            message: &self.message,
            ttl_seconds: 300,
            wait_seconds: 0,
            claimed: &self.claimed,
            take_over: None,
            paths: &self.paths,
            gate: self.gate(),
        };
        match state::locks::claim(store, &self.entry(&known), &wanted).await? {
            Admitted::Outcome(ClaimOutcome::Claimed(_)) => Ok(()),
            other => bail!("a claim was not granted: {other:?}"),
        }
    }

    async fn release(&self, store: &dyn Store) -> Result<()> {
        let request = Release {
            new_head: None,
            agent_head: &self.head,
            is_abandoned: true,
            message: &self.message,
            paths: &self.paths,
            can_ask: false,
            judged: &[],
        };
        match state::locks::release(store, &self.entry(&[]), &request).await? {
            Admitted::Outcome(ReleaseOutcome::Released(_)) => Ok(()),
            other => bail!("a release failed: {other:?}"),
        }
    }
}

/// The same requests as they are sent: as functions, and as scripts.
fn encoded(requests: &[Request]) -> Result<[Vec<Vec<u8>>; 2]> {
    let mut forms = [Vec::new(), Vec::new()];
    for request in requests {
        let Request::Script { script, keys, args } = request else {
            bail!("a request is no script");
        };
        let count = keys.len().to_string();
        let function = LIBRARY.function("", script);
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
async fn commands_of(agent: &Agent, used: &str, link: &mut RedisLink) -> Result<Vec<(String, Vec<Vec<u8>>)>> {
    let recorder = Recorder::default();
    // Only the recorded requests are wanted.
    let _ = agent.check(&recorder).await;
    let _ = agent.claim(&recorder).await;
    let _ = agent.release(&recorder).await;
    let requests = recorder.requests();
    ensure!(requests.len() == 3, "{} requests instead of three", requests.len());
    for request in &requests {
        if let Request::Script { script, .. } = request {
            link.ask(&["SCRIPT", "LOAD", script.source]).await?;
        }
    }
    let [checks, posts] = [encoded(&requests[..1])?, encoded(&requests[1..])?];
    let mut commands = Vec::new();
    for (what, forms) in [("a check", checks), ("a claim and its release", posts)] {
        for (form, encoded) in ["FCALL", "EVALSHA"].into_iter().zip(forms) {
            commands.push((format!("{what}, by {form}{used}"), encoded));
        }
    }
    Ok(commands)
}

pub async fn measure(server: &Process) -> Result<()> {
    progress("measuring what redis-server spends");
    let store = RedisStore::connect(&format!("redis://{}", server.address))?;
    let plain = Agent::new("https://example.com/cost/plain")?;
    let mut featured = Agent::new("https://example.com/cost/features")?;
    featured.use_features(&store).await?;
    let mut link = RedisLink::open(server.address).await?;
    link.ask(&["SET", "k", "v"]).await?;
    let mut kinds = vec![("GET".to_owned(), vec![encode(&[b"GET", b"k"])])];
    for (agent, used) in [(&plain, ""), (&featured, ", features used")] {
        agent.begin(&store).await?;
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
