//! One login beside all others: shares, limits, and the ledger.

mod costs;
mod floods;
