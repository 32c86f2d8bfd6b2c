-- Fields of keys.members.

-- That of an agent, which has its handle in each of its teams.
local function agent_field(login, agent)
  return '@' .. login .. ' ' .. (agent or '')
end
