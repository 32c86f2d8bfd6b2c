-- The gate before a claim. An extension replaces these functions, which let every request pass and record nothing.
local Gate = {}

-- Whether the cited record exists. Called where citing is optional.
function Gate.is_citation_valid()
  return false
end

-- Judges a check of `paths` for writing. Nil, or a denial; refusals are in call.gate.
function Gate.judge() end

-- Adds a warning to call.gate if a budget is nearly spent.
function Gate.warn_of_budget() end

-- Judges a claim of `paths` for writing. Nil, or a denial; refusals are in call.gate.
function Gate.judge_claim() end

-- Records that the claim of `paths` with this message is refused.
function Gate.record_refusal() end

-- Makes room for the owners of `paths`. Nil, or OWNERS and the file that has no room.
function Gate.reserve_owners() end

-- Records a granted claim.
function Gate.grant() end

-- Undoes the ownership that came with these locks, which are released without a push.
function Gate.restore_owners() end

return Gate
