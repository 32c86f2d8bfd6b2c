//! The rules that a history has to follow.

/// A rule that was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Two holders write one file on one branch.
    TwoWriters,
    /// One writes what another reads.
    WriterWithReader,
    /// One writes a neighbor of a file that another writes.
    WrittenNeighbor,
    /// Some of the files of a claim are held, or one of them twice.
    PartialClaim,
    /// A lock was released or renewed by a caller that does not hold it.
    NotTheHolder,
    /// A fencing token is not greater than all before it, or changed without a grant.
    TokenOrder,
    /// A lock expired before its time, or lived on after it.
    Expiry,
    /// A claim was granted a file that is reserved for another, or a reservation passed over a claim that has waited longer.
    Overtaken,
    /// A reservation without a waiting claim, of a file that is not free, or of one that is reserved already.
    Reservation,
    /// A refusal for which there was no reason.
    UnfoundedRefusal,
    /// An answer that the log does not bear out, or an event that belongs to no request.
    AnswerAndLog,
    /// An answer that was true at no instant between question and answer.
    ImpossibleAnswer,
    /// The log has an operation before another that had ended when it began.
    RealTime,
    /// The store's clock was outside the operation, or went back.
    Clock,
    /// The log does not add up to the stored state.
    FinalState,
}

/// A broken rule, and where.
#[derive(Clone, Debug)]
pub struct Violation {
    pub rule: Rule,
    pub text: String,
}

/// Ends with a violation of `rule` unless `holds`.
pub fn require(holds: bool, rule: Rule, text: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds {
        Ok(())
    } else {
        Err(Violation { rule, text: text() })
    }
}
