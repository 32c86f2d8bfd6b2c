-- The gate before a claim. An extension puts its functions in place of these, with which everything passes and nothing is recorded.
local Gate = {}

-- Whether what the request cites exists. Called where citing is optional.
function Gate.knows()
  return false
end

-- Judges a check of `paths` to write. Nil, or a denial; refusals are in call.gate.
function Gate.judge() end

-- Notes in call.gate how much of a budget is left.
function Gate.warn_of_budget() end

-- Judges a claim of `paths` to write. Nil, or a denial; refusals are in call.gate.
function Gate.judge_claim() end

-- Records that the claim of `paths` with this message is refused.
function Gate.record_refusal() end

-- Makes room for the owners of `paths`. Nil, or OWNERS and the file that has no room.
function Gate.reserve_owners() end

-- Records a claim that is granted.
function Gate.grant() end

-- Forgets the recorded content of these locks, which are released without a push.
function Gate.give_up() end

return Gate
