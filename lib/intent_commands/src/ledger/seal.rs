//! A server's data about its ledger: its seal, which is an anchor, and its base, where a ledger may begin.

use anyhow::ensure;
use coord_agent::ledger::{LedgerLocation, newest};
use coord_agent::local_server;
use coord_agent::options::AgentArgs;
use coord_agent::work::Work;
use coord_agent::workplace::Workplace;
use coord_intents::ledger::{Anchor, Expectations, Source, VerifyingKey};
use coord_protocol::ClientError;

use super::anchors;

/// Expects the state in `ends`.
pub(super) fn expect(expected: &mut Expectations, ends: LedgerLocation) {
    expected.base = (ends.base.seq > 0).then_some(ends.base);
    expected.anchors.push(Anchor {
        point: ends.sealed,
        source: Source::Seal,
    });
}

/// Expects the server's state; with `signers`, its checkpoint too, which has to be signed by one of them.
///
/// # Errors When its state cannot be used. The error inside is one of the server, or there is no response.
pub(super) async fn of_server(
    workplace: &Workplace,
    signers: &[VerifyingKey],
    expected: &mut Expectations,
) -> anyhow::Result<Result<LedgerLocation, ClientError>> {
    let (client, repo_url) = (&workplace.connection.client, workplace.work.repo_url());
    let ends = match newest(client, &repo_url).await {
        Ok(page) => LedgerLocation::of(&page)?,
        Err(error) => return Ok(Err(error)),
    };
    expect(expected, ends);
    if !signers.is_empty() {
        let checkpoint = match client.ledger_checkpoint(&repo_url).await {
            Ok(checkpoint) => checkpoint,
            Err(error) => return Ok(Err(error)),
        };
        let name = "the checkpoint of the server";
        let anchor = anchors::of_note(&checkpoint, name, signers, &expected.repository)?;
        expected.anchors.push(anchor);
    }
    Ok(Ok(ends))
}

/// The same of the server that is configured, or has the state of this clone. Without one none is started.
///
/// # Errors
/// When there is none, or it gives no answer that can be used.
pub(super) async fn of_known_server(
    args: &AgentArgs,
    work: &Work,
    signers: &[VerifyingKey],
    expected: &mut Expectations,
) -> anyhow::Result<()> {
    ensure!(
        args.url(&work.working_copy).is_some() || local_server::has_run(&work.working_copy),
        "no server is configured, and none has run in this clone"
    );
    let workplace = Workplace::open(args)?;
    let _waiting = workplace.waiting();
    of_server(&workplace, signers, expected).await??;
    Ok(())
}
