-- Extensions of the seams of locks by intents.
local Abandoned = require('intents/abandoned')
local Gate = require('intents/gate')
local GateClaim = require('intents/gate_claim')
local GateSeam = require('seams/gate')

GateSeam.is_citation_valid = Gate.is_citation_valid
GateSeam.judge = Gate.judge
GateSeam.warn_of_budget = Gate.warn_of_budget
GateSeam.judge_claim = GateClaim.judge_claim
GateSeam.record_refusal = GateClaim.record_refusal
GateSeam.reserve_owners = GateClaim.reserve_owners
GateSeam.grant = GateClaim.grant
GateSeam.restore_owners = Abandoned.restore_owners
