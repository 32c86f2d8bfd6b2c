//! The scripts of teams under their admission: a refusal by the rules is an error.

use std::collections::BTreeMap;

use coord_protocol::Waiting;

use super::chosen::ChosenTeam;
use super::view;
use crate::admission::{Admission, AdmittedCall};
use crate::domain::team::{Handle, TaskId};
use crate::error::{ApiError, TeamRefused};
use crate::state::admission::{AdmissionTerms, Admitted};
use crate::state::departures::{self, ShutdownStep};
use crate::state::messages::{self, Inbox, MessageFilter, MessagePage, NewMessage, SentMessage};
use crate::state::tasks::{
    self, CreatedTasks, NewTask, TaskChanges, TaskFilter, TaskPage, Unblocked, Updated, WholeTask,
};
use crate::state::teams::{self, Joined, NewMember, RequestKey, TeamRecord, Told};
use crate::store::{Store, StoreError};

/// Runs `call`. Returns what came of it, and what waits for the caller.
pub(super) async fn run<T: Send, C: AdmittedCall<Outcome = Told<T>>>(
    admission: &mut Admission<'_>,
    call: &C,
) -> Result<(T, Waiting), ApiError> {
    told(admission.run(call).await?)
}

/// What a list costs, for a caller that has no request left.
pub(super) const PRICE_OF_LIST: &str = "you read too much; a list counts as one request for each 500 tasks or messages that it reads, \
                                        so list less often";

/// What a team costs, for a caller that has no request left.
pub(super) const PRICE_OF_TEAM: &str = "you read too much; a team counts as one request for each 100 members and each 1,000 claimed \
                                        tasks that it shows, so show it less often";

/// The same for a part of a read that may take long. `price`: what it costs.
pub(super) async fn run_part<T: Send, C: AdmittedCall<Outcome = Told<T>>>(
    admission: &mut Admission<'_>,
    call: &C,
    price: &'static str,
) -> Result<(T, Waiting), ApiError> {
    told(admission.run_part(call, price).await?)
}

fn told<T>(Told { outcome, waiting }: Told<T>) -> Result<(T, Waiting), ApiError> {
    let waiting = view::waiting(waiting);
    match outcome {
        Ok(value) => Ok((value, waiting)),
        Err(refusal) => Err(TeamRefused { refusal, waiting }.into()),
    }
}

/// Parts of one request for a list: with more to look at, the caller goes on from where they end.
pub(super) const MOST_PARTS: usize = 8;

/// Declares calls: the arguments of a function of the state, and that function.
macro_rules! calls {
    ($($name:ident { $($field:ident: $kind:ty),* } = $module:ident::$function:ident -> $outcome:ty;)*) => {$(
        #[doc = concat!("[`", stringify!($module), "::", stringify!($function), "`].")]
        pub(super) struct $name<'a> {
            pub team: &'a ChosenTeam<'a>,
            $(pub $field: $kind,)*
        }

        impl AdmittedCall for $name<'_> {
            type Outcome = Told<$outcome>;

            async fn make(
                &self,
                store: &dyn Store,
                terms: &AdmissionTerms<'_>,
            ) -> Result<Admitted<Self::Outcome>, StoreError> {
                $module::$function(store, &self.team.terms(terms) $(, self.$field)*).await
            }

            fn choose_team(&self, handles: &BTreeMap<String, String>) -> Result<(), ApiError> {
                self.team.choose(handles)
            }
        }
    )*};
}

calls! {
    CreateTeam { leader: &'a NewMember<'a>, is_strict: bool, description: &'a str } = teams::create_team -> ();
    JoinTeam { member: &'a NewMember<'a> } = teams::join_team -> Joined;
    HandOver { to: &'a Handle } = teams::hand_over -> String;
    ShowTeam { } = teams::show_team -> TeamRecord;
    LeaveTeam { } = departures::leave_team -> Vec<String>;
    DeleteTeam { } = departures::delete_team -> ();
    RequestShutdown { target: Option<&'a Handle>, reason: &'a str, respond_seconds: u32 } =
        departures::request_shutdown -> ShutdownStep;
    AnswerShutdown { id: &'a str, rejection: Option<&'a str> } = departures::answer_shutdown -> ShutdownStep;
    ForceShutdown { id: &'a str } = departures::force_shutdown -> ShutdownStep;
    CreateTasks { key: RequestKey<'a>, tasks: &'a [NewTask] } = tasks::create_tasks -> CreatedTasks;
    UpdateTask { id: &'a TaskId, changes: &'a TaskChanges } = tasks::update_task -> Updated;
    AssignTask { id: &'a TaskId, to: Option<&'a Handle> } = tasks::assign_task -> WholeTask;
    DeleteTask { id: &'a TaskId, is_unlinked: bool } = tasks::delete_task -> Unblocked;
    ShowTask { id: &'a TaskId } = tasks::show_task -> WholeTask;
    ListTasks { after: u64, most: usize, filter: &'a TaskFilter<'a> } = tasks::list_tasks -> TaskPage;
    SendMessage { key: RequestKey<'a>, message: &'a NewMessage<'a> } = messages::send_message -> SentMessage;
    ReadMessages { cursor: Option<u64>, most: usize, most_bytes: usize, is_own: bool } = messages::read_messages -> Inbox;
    ListMessages { most: usize, most_bytes: usize, filter: &'a MessageFilter<'a> } =
        messages::list_messages -> MessagePage;
}
