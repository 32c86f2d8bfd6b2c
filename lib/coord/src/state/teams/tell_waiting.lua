-- tell_waiting: what waits for a caller in its teams.
-- KEYS: 1 members of teams
-- ARGV: 1 user id, 2 agent id or ''
-- Returns { TOLD, now, what waiting() tells }
local keys = { members = KEYS[1] }
local request = { user_id = ARGV[1], agent_id = ARGV[2] }
-- @include clock
-- @include teams/waiting

return { 'TOLD', now, waiting() }
