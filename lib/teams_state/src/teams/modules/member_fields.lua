-- Fields of keys.members.
local MemberFields = {}

-- The field of an agent: it has the agent's handle in each of its teams.
function MemberFields.agent_field(login, agent)
  return '@' .. login .. ' ' .. (agent or '')
end

return MemberFields
