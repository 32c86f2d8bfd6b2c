//! One login beside all others: shares, limits, and the ledger.

mod bounds;
mod costs;
mod floods;
