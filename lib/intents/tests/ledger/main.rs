//! The ledger from outside: its bytes, its damage, and a second verifier in Python.

mod judging;
mod ledger_anchors;
mod ledger_damage;
mod ledger_edits;
mod ledger_hostile;
mod ledger_lines;
mod python;
mod sample;
