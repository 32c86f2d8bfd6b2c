//! The scripts of teams under their admission.

use coord_protocol::Waiting;

use super::team_selection::SelectedTeam;
use crate::refusal::TeamRefused;
use coord_domain::team::{Handle, TaskId};
use coord_server::admission::{Admission, AdmittedCall};
use coord_server::error::ApiError;
use coord_state::admission::{AdmissionTerms, Admitted, Question};
use coord_store::{Store, StoreError};
use coord_teams_state::departures::{self, ShutdownStep};
use coord_teams_state::messages::{self, Inbox, MessageFilter, MessagePage, NewMessage, SentMessage};
use coord_teams_state::tasks::{
    self, CreatedTasks, FullTask, NewTask, TaskChanges, TaskFilter, TaskPage, Unblocked, UpdateOutcome,
};
use coord_teams_state::teams::{self, JoinKind, NewMember, RequestKey, TeamCallResponse, TeamRecord};

/// Runs `call`. Returns its outcome, and the caller's pending items.
pub(super) async fn run<T: Send, C: AdmittedCall<Outcome = TeamCallResponse<T>>>(
    admission: &mut Admission<'_>,
    call: &mut C,
) -> Result<(T, Waiting), ApiError> {
    let (outcome, waiting) = admission.run(call).await?.map_err(TeamRefused::from)?;
    Ok((outcome, waiting.into()))
}

/// The price of a list, for a rate-limited caller.
pub(super) const PRICE_OF_LIST: &str = "you read too much; a list counts as one request for each 500 tasks or messages that it reads, \
                                        so list less often";

/// The price of a team, for a rate-limited caller.
pub(super) const PRICE_OF_TEAM: &str = "you read too much; a team counts as one request for each 100 members and each 1,000 claimed \
                                        tasks that it shows, so show it less often";

/// Runs one part of a long read. `price` explains its cost to a rate-limited caller.
pub(super) async fn run_part<T: Send, C: AdmittedCall<Outcome = TeamCallResponse<T>>>(
    admission: &mut Admission<'_>,
    call: &mut C,
    price: &'static str,
) -> Result<(T, Waiting), ApiError> {
    let (outcome, waiting) = admission.run_part(call, price).await?.map_err(TeamRefused::from)?;
    Ok((outcome, waiting.into()))
}

/// The most parts of one request for a list. If there is more, the caller continues from where they end.
pub(super) const MAX_PARTS: usize = 8;

/// Declares calls: the arguments of a function of `coord_teams_state`, and that function.
macro_rules! calls {
    ($($name:ident $(<$life:lifetime>)? { $($field:ident: $kind:ty),* } = $module:ident::$function:ident -> $outcome:ty;)*) => {$(
        #[doc = concat!("[`", stringify!($module), "::", stringify!($function), "`].")]
        pub(super) struct $name $(<$life>)? {
            pub team: SelectedTeam,
            $(pub $field: $kind,)*
        }

        impl $(<$life>)? AdmittedCall for $name $(<$life>)? {
            type Outcome = TeamCallResponse<$outcome>;

            async fn make(
                &self,
                store: &dyn Store,
                terms: &AdmissionTerms<'_>,
            ) -> Result<Admitted<Self::Outcome>, StoreError> {
                $module::$function(store, &self.team.terms(terms) $(, self.$field)*).await
            }

            async fn answer(&mut self, admission: &mut Admission<'_>, question: Question) -> Result<(), ApiError> {
                self.team.answer(admission, question).await
            }
        }
    )*};
}

calls! {
    CreateTeam<'a> { leader: &'a NewMember<'a>, is_strict: bool, description: &'a str } = teams::create_team -> ();
    JoinTeam<'a> { member: &'a NewMember<'a> } = teams::join_team -> JoinKind;
    HandOver<'a> { to: &'a Handle } = teams::hand_over -> String;
    ShowTeam { } = teams::show_team -> TeamRecord;
    LeaveTeam { } = departures::leave_team -> Vec<String>;
    DeleteTeam { } = departures::delete_team -> ();
    RequestShutdown<'a> { target: Option<&'a Handle>, reason: &'a str, respond_seconds: u32 } =
        departures::request_shutdown -> ShutdownStep;
    AnswerShutdown<'a> { id: &'a str, rejection: Option<&'a str> } = departures::answer_shutdown -> ShutdownStep;
    ForceShutdown<'a> { id: &'a str } = departures::force_shutdown -> ShutdownStep;
    CreateTasks<'a> { key: RequestKey<'a>, tasks: &'a [NewTask] } = tasks::create_tasks -> CreatedTasks;
    UpdateTask<'a> { id: &'a TaskId, changes: &'a TaskChanges } = tasks::update_task -> UpdateOutcome;
    AssignTask<'a> { id: &'a TaskId, to: Option<&'a Handle> } = tasks::assign_task -> FullTask;
    DeleteTask<'a> { id: &'a TaskId, is_unlinked: bool } = tasks::delete_task -> Unblocked;
    ShowTask<'a> { id: &'a TaskId } = tasks::show_task -> FullTask;
    ListTasks<'a> { after: u64, most: usize, filter: &'a TaskFilter<'a> } = tasks::list_tasks -> TaskPage;
    SendMessage<'a> { key: RequestKey<'a>, message: &'a NewMessage<'a> } = messages::send_message -> SentMessage;
    ReadMessages { cursor: Option<u64>, most: usize, most_bytes: usize, is_own: bool } = messages::read_messages -> Inbox;
    ListMessages<'a> { most: usize, most_bytes: usize, filter: MessageFilter<'a> } =
        messages::list_messages -> MessagePage;
}
