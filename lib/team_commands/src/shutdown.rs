//! `coord team shutdown`.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use coord_protocol::teams::{ShutdownRequest, ShutdownStep};

use super::common::{Common, team_actor};

/// Options of `coord team shutdown`.
#[derive(Clone, Debug, Args)]
pub(super) struct ShutdownArgs {
    /// The step
    #[command(subcommand)]
    step: Step,
}

#[derive(Clone, Debug, Subcommand)]
enum Step {
    /// Ask one member to stop, or the team to close; you approve for yourself
    Request(RequestArgs),
    /// Agree to stop; your tasks are released
    Approve(ShutdownIdArgs),
    /// Refuse to stop, with a reason
    Reject(RejectArgs),
    /// As the leader: stop all members that have not answered in time
    Force(ShutdownIdArgs),
}

#[derive(Clone, Debug, Args)]
struct RequestArgs {
    /// The member [default: the whole team]
    #[arg(long, value_name = "HANDLE")]
    target: Option<String>,
    /// The reason
    #[arg(long, short, value_name = "TEXT")]
    reason: Option<String>,
    /// Seconds to respond
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    respond_by: u32,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Debug, Args)]
struct ShutdownIdArgs {
    /// The shutdown, such as s1
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Debug, Args)]
struct RejectArgs {
    /// The shutdown, such as s1
    #[arg(value_name = "ID")]
    id: String,
    /// The reason
    #[arg(long, short, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    common: Common,
}

impl ShutdownArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let response_to = |id, step, reason| ShutdownRequest {
            step: Some(step),
            shutdown_id: Some(id),
            reason,
            ..ShutdownRequest::default()
        };
        let (common, mut request) = match self.step {
            Step::Request(args) => (
                args.common,
                ShutdownRequest {
                    step: Some(ShutdownStep::Request),
                    target: args.target,
                    reason: args.reason,
                    respond_by_seconds: Some(args.respond_by),
                    ..ShutdownRequest::default()
                },
            ),
            Step::Approve(args) => (args.common, response_to(args.id, ShutdownStep::Approve, None)),
            Step::Force(args) => (args.common, response_to(args.id, ShutdownStep::Force, None)),
            Step::Reject(args) => {
                let request = response_to(args.id, ShutdownStep::Reject, Some(args.reason));
                (args.common, request)
            }
        };
        let workplace = common.open()?;
        request.caller = team_actor(&workplace);
        let team = common.select_team(&workplace, None).await?;
        let result = workplace.connection.client.shut_down(&team, &request).await;
        common.print(&workplace, result)
    }
}
