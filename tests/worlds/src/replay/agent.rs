//! An agent takes one task after the other: it claims the files, works, pushes, releases the files, and obeys each response.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use coord_domain::CommitSha;
use serde_json::{Value, json};

use super::mode::{Hold, RefusalHabit, Rules};
use super::run::Run;

/// How often a lock is renewed.
const RENEW_EVERY: Duration = Duration::from_secs(120);

/// Tasks that an agent checks for free files, as many as `coord task next` looks at, and when it does so again if there is none.
const LOOKS: usize = 32;
const LOOK_AGAIN: Duration = Duration::from_secs(15);

/// Longest time for which a server holds a claim back.
const MAX_HELD: Duration = Duration::from_secs(20);

/// How often such a claim is made again at least, so that it asks without a pause: a real one says how long it is held.
const HELD_AGAIN: Duration = Duration::from_secs(9);

/// Longest wait for the files of one task. An agent that waits longer is starving.
const MAX_WAIT: Duration = Duration::from_secs(48 * 3600);

/// Most files of one release whose interfaces the server compares.
const MAX_COMPARED: usize = 32;

pub struct Agent<'a> {
    run: &'a Run<'a>,
    number: usize,
    name: String,
    /// Head of the working copy.
    head: CommitSha,
    /// The files that it holds, and when it claimed or renewed these last.
    held: BTreeSet<String>,
    renewed: Duration,
}

/// How a claim is answered that is made until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FinalClaimAnswer {
    Granted,
    /// Another holder waits for files of the caller, who waits for theirs.
    Mutual,
}

/// How a claim is answered that is made once.
enum ClaimAnswer {
    Granted,
    Refused(Value),
}

impl<'a> Agent<'a> {
    pub fn new(run: &'a Run<'a>, number: usize) -> Self {
        Agent {
            run,
            number,
            name: format!("agent-{number}"),
            head: run.branch.tip(),
            held: BTreeSet::new(),
            renewed: Duration::ZERO,
        }
    }

    /// Works until no task is left.
    pub async fn work(mut self) -> Result<()> {
        self.run.clock.sleep_until(Duration::ZERO).await;
        while let Some(place) = self.choose().await? {
            self.play(place).await?;
        }
        self.run.clock.ends();
        Ok(())
    }

    /// Takes the next task, or where it checks first, the first one whose files are free.
    async fn choose(&mut self) -> Result<Option<usize>> {
        let run = self.run;
        loop {
            self.pull();
            let Some(first) = run.open.borrow().first().copied() else {
                return Ok(None);
            };
            let chosen = match run.mode.refused {
                RefusalHabit::Switches => self.find_free(first).await?,
                RefusalHabit::Sleeps | RefusalHabit::Waits => Some(first),
            };
            if let Some(chosen) = chosen {
                run.open.borrow_mut().remove(&chosen);
                return Ok(Some(chosen));
            }
            run.clock.sleep_until(run.clock.now() + LOOK_AGAIN).await;
            run.account.borrow_mut().idle += LOOK_AGAIN;
        }
    }

    /// The first open task whose files are free, beginning with `first`.
    async fn find_free(&self, first: usize) -> Result<Option<usize>> {
        let mut seen = BTreeSet::new();
        let mut next = Some(first);
        while let Some(place) = next.filter(|_| seen.len() < LOOKS) {
            self.run.requested(place);
            let Some(free) = self.check(place).await? else {
                return Ok(Some(place));
            };
            seen.insert(place);
            next = self.other_than(&seen, &free);
        }
        Ok(None)
    }

    /// Whether the files of a task are free; if not, the files that the response suggests. This check already reports what a real agent
    /// learns when its first edit is refused: the interface change conflicts with a neighbor.
    async fn check(&self, place: usize) -> Result<Option<Vec<String>>> {
        let mut fields = json!({"file_paths": self.run.paths(place)});
        self.add_interfaces(&mut fields, place, &self.run.paths(place)).await?;
        let answer = self.ask("check_status", fields).await?;
        match action(&answer) {
            "PROCEED" => Ok(None),
            "SWITCH_TASK" => {
                let free = answer["orchestration"]["metadata"]["free"].as_array();
                let names = free.into_iter().flatten().filter_map(Value::as_str);
                Ok(Some(names.map(str::to_owned).collect()))
            }
            _ => bail!("a check was answered {answer}"),
        }
    }

    /// The next open task that was not `seen`: one on the files that are `free`, if there is one soon.
    fn other_than(&self, seen: &BTreeSet<usize>, free: &[String]) -> Option<usize> {
        let open = self.run.open.borrow();
        let others = || open.iter().copied().filter(|place| !seen.contains(place));
        let files = |place: usize| &self.run.tasks[place].files;
        let on_free = |place: &usize| free.iter().any(|path| files(*place).contains_key(path));
        others().take(LOOKS).find(on_free).or_else(|| others().next())
    }

    fn pull(&mut self) {
        self.head = self.run.branch.tip();
    }

    async fn play(&mut self, place: usize) -> Result<()> {
        let run = self.run;
        let length = run.tasks[place].length();
        let edits = length / 3;
        match run.mode.hold {
            _ if !run.mode.locks() => {
                run.granted(place, self.number);
                run.edits(place, &run.paths(place));
                self.work_on(length).await?;
            }
            Hold::Whole => {
                self.claim(place).await?;
                self.work_on(length).await?;
            }
            Hold::Edits => {
                run.started(place, self.number);
                run.granted(place, self.number);
                self.work_on(length - edits).await?;
                self.edit_all(place, edits).await?;
            }
        }
        self.head = run.land(place).await?;
        if run.mode.locks() {
            self.release_files(place).await?;
        }
        run.clock.wake_waiting();
        Ok(())
    }

    /// Works for a time, and renews what it holds.
    async fn work_on(&mut self, time: Duration) -> Result<()> {
        let clock = &self.run.clock;
        let done = clock.now() + time;
        while clock.now() < done {
            let renewal = match self.held.is_empty() {
                true => done,
                false => self.renewed + RENEW_EVERY,
            };
            clock.sleep_until(done.min(renewal)).await;
            if clock.now() < done {
                self.renew().await?;
            }
        }
        Ok(())
    }

    /// Claims the files of a task, until it has them.
    async fn claim(&mut self, place: usize) -> Result<()> {
        let run = self.run;
        run.requested(place);
        let waited = self.claim_all(place).await?;
        run.account.borrow_mut().idle += waited;
        run.granted(place, self.number);
        Ok(())
    }

    /// Claims all files of a task without holding any. Returns the time until it has them.
    async fn claim_all(&mut self, place: usize) -> Result<Duration> {
        let run = self.run;
        let begin = run.clock.now();
        match self.insist(place, &run.paths(place)).await? {
            FinalClaimAnswer::Granted => Ok(run.clock.now() - begin),
            FinalClaimAnswer::Mutual => bail!("an agent without files got MUTUAL_WAIT"),
        }
    }

    /// Claims files of a task, until it has them, and renews what it holds meanwhile.
    async fn insist(&mut self, place: usize, paths: &[&str]) -> Result<FinalClaimAnswer> {
        let run = self.run;
        let begin = run.clock.now();
        // A claim that waits in the server is one request, however often the server looks again.
        let mut held_until = begin;
        loop {
            let ClaimAnswer::Refused(answer) = self.claim_once(place, paths).await? else {
                return Ok(FinalClaimAnswer::Granted);
            };
            if !self.held.is_empty() && is_mutual(&answer) {
                return Ok(FinalClaimAnswer::Mutual);
            }
            if run.clock.now() - begin > MAX_WAIT {
                bail!("the task of {} waits for ever: {answer}", run.tasks[place].commit);
            }
            self.wait(&answer, &mut held_until).await?;
            if !self.held.is_empty() && run.clock.now() >= self.renewed + RENEW_EVERY {
                self.renew().await?;
            }
        }
    }

    /// Does what WAIT says. A server that holds the claim repeats it when files are released. Here the agent does, because the server
    /// would wait in real time.
    async fn wait(&self, answer: &Value, held_until: &mut Duration) -> Result<()> {
        let (run, now) = (self.run, self.run.clock.now());
        if run.mode.refused == RefusalHabit::Sleeps {
            run.clock.sleep_until(now + pause(answer)?).await;
            return Ok(());
        }
        if *held_until <= now {
            *held_until = now + MAX_HELD;
        }
        let until = (*held_until).min(now + HELD_AGAIN);
        if run.clock.wait_until(until).await || until < *held_until {
            let mut account = run.account.borrow_mut();
            account.claims -= 1;
            account.refusals -= 1;
        }
        Ok(())
    }

    /// Claims files of a task, after a pull if the response asks for one.
    async fn claim_once(&mut self, place: usize, paths: &[&str]) -> Result<ClaimAnswer> {
        loop {
            self.run.account.borrow_mut().claims += 1;
            let message = format!("Making the change of {} again", self.run.tasks[place].commit);
            let mut claim = json!({"file_paths": paths, "status": "WRITING", "message": message});
            self.add_interfaces(&mut claim, place, paths).await?;
            let answer = self.post(claim).await?;
            match action(&answer) {
                "PROCEED" => {
                    if self.held.is_empty() {
                        self.renewed = self.run.clock.now();
                    }
                    let mut new = paths.to_vec();
                    new.retain(|path| !self.held.contains(*path));
                    self.run.edits(place, &new);
                    self.held.extend(new.into_iter().map(str::to_owned));
                    return Ok(ClaimAnswer::Granted);
                }
                "PULL" => self.pull(),
                "WAIT" => {
                    self.run.account.borrow_mut().refusals += 1;
                    return Ok(ClaimAnswer::Refused(answer));
                }
                _ => bail!("a claim was answered {answer}"),
            }
        }
    }

    /// Says in a claim or a check what the hooks of a session find out by its edits.
    async fn add_interfaces(&self, fields: &mut Value, place: usize, paths: &[&str]) -> Result<()> {
        if self.run.mode.rules != Rules::Interface {
            return Ok(());
        }
        fields["interface"] = json!("keeps");
        let mut changed = self.run.changed_interfaces(place).await?;
        changed.retain(|path| paths.contains(&path.as_str()));
        fields["interface_changes"] = json!(changed);
        Ok(())
    }

    /// Edits all files of a task in `time`. A refused edit comes after the others; where all that are left are refused, it waits.
    async fn edit_all(&mut self, place: usize, time: Duration) -> Result<()> {
        let run = self.run;
        let mut left: VecDeque<&str> = run.paths(place).into();
        let each = time / u32::try_from(left.len()).unwrap_or(u32::MAX);
        let mut refused = 0;
        while let Some(path) = left.pop_front() {
            if let ClaimAnswer::Refused(_) = self.claim_once(place, &[path]).await? {
                if refused < left.len() {
                    refused += 1;
                    left.push_back(path);
                    continue;
                }
                let begin = run.clock.now();
                let insisted = self.insist(place, &[path]).await?;
                run.waited(place, run.clock.now() - begin);
                if insisted == FinalClaimAnswer::Mutual {
                    return self.edit_anew(place, time).await;
                }
            }
            refused = 0;
            self.work_on(each).await?;
        }
        Ok(())
    }

    /// Resolves a deadlock between agents: this agent gives up its files, claims all of them at once, and edits them
    /// again.
    async fn edit_anew(&mut self, place: usize, time: Duration) -> Result<()> {
        let run = self.run;
        run.account.borrow_mut().given_up += 1;
        self.abandon().await?;
        run.began_anew(place);
        let waited = self.claim_all(place).await?;
        run.waited(place, waited);
        self.work_on(time).await
    }

    async fn renew(&mut self) -> Result<()> {
        let fields = json!({"file_paths": self.held, "status": "WRITING", "message": "Going on with the change"});
        succeeded(&self.post(fields).await?)?;
        self.renewed = self.run.clock.now();
        Ok(())
    }

    /// Gives up what it holds, unpushed.
    async fn abandon(&mut self) -> Result<()> {
        let fields = json!({
            "file_paths": std::mem::take(&mut self.held), "status": "OPEN", "message": "Another one goes first", "abandon": true,
        });
        succeeded(&self.post(fields).await?)?;
        self.run.clock.wake_waiting();
        Ok(())
    }

    async fn release_files(&mut self, place: usize) -> Result<()> {
        let fields = json!({
            "file_paths": std::mem::take(&mut self.held), "status": "OPEN", "message": "The change is pushed", "new_repo_head": self.head.as_str(),
        });
        let answer = self.post(fields).await?;
        succeeded(&answer)?;
        let broken = warnings(&answer).filter(|warning| warning.starts_with("INTERFACE_CHANGED: The interface of "));
        // It compares so many, and says that the others may have changed.
        if self.run.tasks[place].files.len() <= MAX_COMPARED {
            let broken = broken.map(|warning| format!("what was said truthfully is contradicted: {warning}"));
            self.run.account.borrow_mut().violations.extend(broken);
        }
        Ok(())
    }

    async fn post(&self, fields: Value) -> Result<Value> {
        self.ask("post_status", fields).await
    }

    async fn ask(&self, endpoint: &str, fields: Value) -> Result<Value> {
        self.run.server.ask(endpoint, &self.name, &self.head, fields).await
    }
}

fn action(answer: &Value) -> &str {
    answer["orchestration"]["action"].as_str().unwrap_or_default()
}

fn warnings(answer: &Value) -> impl Iterator<Item = &str> {
    let warnings = answer["warnings"].as_array().into_iter().flatten();
    warnings.filter_map(Value::as_str)
}

/// Whether the blocking agent waits for the caller.
fn is_mutual(answer: &Value) -> bool {
    warnings(answer).any(|warning| warning.starts_with("MUTUAL_WAIT"))
}

fn succeeded(answer: &Value) -> Result<()> {
    match answer["success"].as_bool() {
        Some(true) => Ok(()),
        _ => bail!("a renewal or a release was answered {answer}"),
    }
}

/// The seconds of `sleep 5`.
fn pause(answer: &Value) -> Result<Duration> {
    let command = answer["orchestration"]["command"].as_str();
    let seconds = command.and_then(|command| command.strip_prefix("sleep ")?.parse().ok());
    Ok(Duration::from_secs(seconds.context("WAIT says how long")?))
}
