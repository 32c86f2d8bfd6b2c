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
-- @include locks/holds_all

local of_task -- TEAM/ID of the task with which files are claimed, or nil
