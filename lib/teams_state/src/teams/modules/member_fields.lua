-- Fields of keys.members.
local MemberFields = {}

-- That of an agent, which has its handle in each of its teams.
function MemberFields.agent_field(login, agent)
  return '@' .. login .. ' ' .. (agent or '')
end

return MemberFields
