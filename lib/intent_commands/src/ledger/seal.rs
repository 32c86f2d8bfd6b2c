//! The data of a server about its ledger: its seal, which is an anchor, and its base, where a ledger may begin.

use anyhow::ensure;
use coord_agent::ledger::{LedgerLocation, newest};
use coord_agent::local_server;
use coord_agent::options::AgentArgs;
use coord_agent::work::Work;
use coord_agent::workplace::{Failure, Workplace};
use coord_intents::ledger::{Anchor, Expectations, Source, VerifyingKey};

use super::anchors;

/// Adds the base and the seal of `location` to `expected`.
pub(super) fn expect_location(expected: &mut Expectations, location: LedgerLocation) {
    expected.base = (location.base.seq > 0).then_some(location.base);
    expected.anchors.push(Anchor {
        point: location.sealed,
        source: Source::Seal,
    });
}

/// Adds the location of the server's ledger to `expected`. With `signers`, it also adds the server's checkpoint, which
/// one of them must have signed.
///
/// # Errors
/// When the server returns an error or no response, or its response cannot be used.
pub(super) async fn expect_server(
    workplace: &Workplace,
    signers: &[VerifyingKey],
    expected: &mut Expectations,
) -> Result<LedgerLocation, Failure> {
    let (client, repo_url) = (&workplace.connection.client, workplace.work.repo_url());
    let location = LedgerLocation::of(&newest(client, &repo_url).await?)?;
    expect_location(expected, location);
    if !signers.is_empty() {
        let checkpoint = client.ledger_checkpoint(&repo_url).await?;
        let name = "the checkpoint of the server";
        let anchor = anchors::read_note(&checkpoint, name, signers, &expected.repository)?;
        expected.anchors.push(anchor);
    }
    Ok(location)
}

/// Calls [`expect_server`] for the server that is configured, or that has run in this clone. Without one, starts none.
///
/// # Errors
/// When there is no such server, or its response cannot be used.
pub(super) async fn expect_known_server(
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
    let _spinner = workplace.start_spinner();
    match expect_server(&workplace, signers, expected).await {
        Ok(_) => Ok(()),
        Err(Failure::NoAnswer(error)) => Err(error.into()),
        Err(Failure::Error(error)) => Err(error),
    }
}
