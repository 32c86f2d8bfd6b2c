-- A holder is (user_id, agent_id). Needs: user_id, agent_id ('' where there is none).
local function is_own(entry)
  return entry.user_id == user_id and (entry.agent_id or '') == agent_id
end
