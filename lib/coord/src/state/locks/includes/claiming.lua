-- What a claim of files needs. Needs: admission, and gate_at: see locks/gate_request.
-- @include admission/behind
-- @include admission/due_mark
-- @include locks/survey
-- @include builds/graph_age
-- @include builds/spelling
-- @include locks/changes
-- @include locks/refusal
-- @include locks/reserve
-- @include locks/tokens
-- @include locks/releases
-- @include locks/gate_request

local of_task -- TEAM/ID of the task with which files are claimed, or nil

-- Whether the caller already holds all of the files.
local function holds_all(paths)
  local is_held, seen = true, 0
  each_value(paths, function(_, value)
    local mine, entries = false, value and seen <= MOST_AT_ONCE and cjson.decode(value) or {}
    seen = seen + #entries
    for _, entry in ipairs(entries) do
      mine = mine or (entry.branch == request.branch and is_own(entry) and not has_expired(entry))
    end
    is_held = mine
    return mine
  end)
  return is_held
end
