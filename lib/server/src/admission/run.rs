//! The loop of a request: its call is made, and the script's questions are answered, until there is an outcome or a
//! denial.

use futures::future::BoxFuture;

use super::denial::refusal;
use super::request::{Admission, Ancestry, HeadNeed};
use crate::error::ApiError;
use coord_state::admission::{AdmissionTerms, Admitted, Denial, LimitSubject, Question};
use coord_store::{Store, StoreError};

/// Maximum reruns of a script for one request: for the head, for facts about commits, and while another request fetches the
/// head.
const MOST_ROUNDS: u32 = 30;

/// A store call whose script begins with an admission. It is made again after each question, with the answer's changes.
pub trait AdmittedCall: Send + Sync {
    /// The outcome of the script.
    type Outcome: Send;

    /// Runs the script once, on these terms.
    fn make(
        &self,
        store: &dyn Store,
        terms: &AdmissionTerms<'_>,
    ) -> impl Future<Output = Result<Admitted<Self::Outcome>, StoreError>> + Send;

    /// Answers a question of the script for its next run. Facts of the source are left to [`Admission::answer`].
    ///
    /// # Errors
    /// When the caller has to send more, the source does not respond, or this call's script does not ask that.
    fn answer(
        &mut self,
        admission: &mut Admission<'_>,
        question: Question,
    ) -> impl Future<Output = Result<(), ApiError>> + Send;
}

/// A function of the state, with its arguments.
type Make<A, T> =
    for<'r> fn(&'r dyn Store, &'r AdmissionTerms<'r>, &'r A) -> BoxFuture<'r, Result<Admitted<T>, StoreError>>;

/// A call whose script asks only about the head of the branch, if anything.
struct PlainCall<'a, A, T> {
    make: Make<A, T>,
    arguments: &'a A,
}

impl<A: Sync, T: Send> AdmittedCall for PlainCall<'_, A, T> {
    type Outcome = T;

    async fn make(&self, store: &dyn Store, terms: &AdmissionTerms<'_>) -> Result<Admitted<T>, StoreError> {
        (self.make)(store, terms, self.arguments).await
    }

    async fn answer(&mut self, admission: &mut Admission<'_>, question: Question) -> Result<(), ApiError> {
        admission.answer(question).await
    }
}

impl Admission<'_> {
    /// Runs a call whose script asks only about the head of the branch, if anything; otherwise as [`Admission::run`].
    pub async fn run_plain<A: Sync, T: Send>(&mut self, arguments: &A, make: Make<A, T>) -> Result<T, ApiError> {
        self.run(&mut PlainCall { make, arguments }).await
    }

    /// Runs `call` until it is admitted, and returns the outcome of its script. Each question is answered before the next run.
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
                // Handled like a GitHub that cannot be asked: only a release depends on the answer.
                Admitted::Denied(Denial::Limited {
                    whose: LimitSubject::Source,
                    ..
                }) if self.need != HeadNeed::Proof => {
                    self.begin_round()?;
                    self.ancestry = Ancestry::Unsure;
                }
                Admitted::Denied(denial) => return Err(refusal(denial, self.repo, self.branch)),
            }
        }
    }

    /// Begins another run of a script for a request that was counted by the first; an error when there were too many.
    fn begin_round(&mut self) -> Result<(), ApiError> {
        self.rates = self.app.rates.of_counted();
        self.rounds += 1;
        if self.rounds > MOST_ROUNDS {
            return Err(ApiError::SourceUnavailable(
                "the head of the branch is still being fetched; try again soon".to_owned(),
            ));
        }
        Ok(())
    }

    /// Runs `call`, one part of a long read, when it is the person's turn. Each part is counted as a request, and between two parts the
    /// store has time for others. `price`: a sentence about its cost, for a caller without requests left.
    ///
    /// # Errors
    /// As those of [`Admission::run`].
    pub async fn run_part<C: AdmittedCall>(
        &mut self,
        call: &mut C,
        price: &'static str,
    ) -> Result<C::Outcome, ApiError> {
        let _turn = self.app.long_reads.turn(&self.holder.user_id).await?;
        self.rates = self.app.rates;
        match self.run(call).await {
            Err(ApiError::RateLimited {
                retry_after_seconds, ..
            }) => Err(ApiError::RateLimited {
                retry_after_seconds,
                whose: price,
            }),
            outcome => outcome,
        }
    }
}
