//! The loop of a request: it runs the call and answers the script's questions until there is an outcome or a denial.

use futures::future::BoxFuture;

use super::denial::denial_error;
use super::request::{Admission, Ancestry, HeadNeed};
use crate::error::ApiError;
use coord_state::admission::{AdmissionTerms, Admitted, Denial, LimitSubject, Question};
use coord_store::{Store, StoreError};

/// Maximum number of reruns of a script for one request: for the head, for facts about commits, and while another
/// request fetches the head.
const MAX_ROUNDS: u32 = 30;

/// A store call whose script begins with an admission. It is repeated after each question, with the answer.
pub trait AdmittedCall: Send + Sync {
    /// The outcome of the script.
    type Outcome: Send;

    /// Runs the script once, on these terms.
    fn make(
        &self,
        store: &dyn Store,
        terms: &AdmissionTerms<'_>,
    ) -> impl Future<Output = Result<Admitted<Self::Outcome>, StoreError>> + Send;

    /// Answers a question of the script for its next run. [`Admission::answer`] answers questions about the source.
    ///
    /// # Errors
    /// When the caller has to send more, the source does not respond, or this call cannot answer the question.
    fn answer(
        &mut self,
        admission: &mut Admission<'_>,
        question: Question,
    ) -> impl Future<Output = Result<(), ApiError>> + Send;
}

/// A typed call of the state, with arguments of type `A`.
type StateCall<A, T> =
    for<'r> fn(&'r dyn Store, &'r AdmissionTerms<'r>, &'r A) -> BoxFuture<'r, Result<Admitted<T>, StoreError>>;

/// A call whose script asks only about the head of the branch, if anything.
struct PlainCall<'a, A, T> {
    state_call: StateCall<A, T>,
    arguments: &'a A,
}

impl<A: Sync, T: Send> AdmittedCall for PlainCall<'_, A, T> {
    type Outcome = T;

    async fn make(&self, store: &dyn Store, terms: &AdmissionTerms<'_>) -> Result<Admitted<T>, StoreError> {
        (self.state_call)(store, terms, self.arguments).await
    }

    async fn answer(&mut self, admission: &mut Admission<'_>, question: Question) -> Result<(), ApiError> {
        admission.answer(question).await
    }
}

impl Admission<'_> {
    /// As [`Admission::run`], for a call whose script asks only about the head of the branch, if anything.
    pub async fn run_plain<A: Sync, T: Send>(
        &mut self,
        arguments: &A,
        state_call: StateCall<A, T>,
    ) -> Result<T, ApiError> {
        self.run(&mut PlainCall { state_call, arguments }).await
    }

    /// Runs `call` until it is admitted, and answers each question before the next run. Returns the script's outcome.
    ///
    /// # Errors
    /// When the caller is denied, or the store or the source does not respond.
    pub async fn run<C: AdmittedCall>(&mut self, call: &mut C) -> Result<C::Outcome, ApiError> {
        loop {
            match call.make(&*self.app.store, &self.terms()).await? {
                Admitted::Outcome(outcome) => return Ok(outcome),
                Admitted::Denied(Denial::Question(question)) => {
                    self.begin_round()?;
                    call.answer(self, question).await?;
                }
                // As if GitHub were unavailable: only a release depends on the answer.
                Admitted::Denied(Denial::Limited {
                    whose: LimitSubject::CommitLookups,
                    ..
                }) if self.head_need != HeadNeed::Proof => {
                    self.begin_round()?;
                    self.ancestry = Ancestry::Unknown;
                }
                Admitted::Denied(denial) => return Err(denial_error(denial, self.repo, self.branch)),
            }
        }
    }

    /// Prepares another run of the script, which does not count the request again.
    ///
    /// # Errors
    /// When there were too many runs.
    fn begin_round(&mut self) -> Result<(), ApiError> {
        self.rates = self.app.rates.of_counted();
        self.rounds += 1;
        if self.rounds > MAX_ROUNDS {
            return Err(ApiError::SourceUnavailable(
                "the head of the branch is still being fetched; try again soon".to_owned(),
            ));
        }
        Ok(())
    }

    /// Runs `call`, one part of a long read, once the person has a free permit. Each part counts as a request, and the
    /// store serves others between two parts. A caller without requests left gets `price`, a sentence about the cost.
    ///
    /// # Errors
    /// As [`Admission::run`].
    pub async fn run_part<C: AdmittedCall>(
        &mut self,
        call: &mut C,
        price: &'static str,
    ) -> Result<C::Outcome, ApiError> {
        let _permit = self.app.long_reads.acquire(&self.holder.user_id).await?;
        self.rates = self.app.rates;
        match self.run(call).await {
            Err(ApiError::RateLimited {
                retry_after_seconds, ..
            }) => Err(ApiError::RateLimited {
                retry_after_seconds,
                reason: price,
            }),
            outcome => outcome,
        }
    }
}
