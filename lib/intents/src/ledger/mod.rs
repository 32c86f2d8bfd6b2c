//! Lines of the ledger, their chain, and its verification.
