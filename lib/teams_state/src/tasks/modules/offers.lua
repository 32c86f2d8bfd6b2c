-- The head of the queue, where answers about locks find it without the keys of the team: the field TEAM/+ of keys.members.
-- It is a JSON list of { id, name of the team, task } for the first eight tasks, without large ones.
local Offers = {}

-- Writes the head of the queue. Every script that changes the queue, or a task in it, calls this.
function Offers.save(call)
  local MAX_TASKS, MAX_BYTES = 8, 2048
  local ids, offers = redis.call('ZRANGE', call.keys.ready, 0, MAX_TASKS - 1), {}
  local stored = #ids > 0 and redis.call('HMGET', call.keys.tasks, unpack(ids)) or {}
  for index, id in ipairs(ids) do
    if stored[index] and #stored[index] <= MAX_BYTES then
      offers[#offers + 1] = '["' .. id .. '","' .. call.team.name .. '",' .. stored[index] .. ']'
    end
  end
  if #offers > 0 then
    redis.call('HSET', call.keys.members, call.team_key .. '/+', '[' .. table.concat(offers, ',') .. ']')
  else
    redis.call('HDEL', call.keys.members, call.team_key .. '/+')
  end
end

return Offers
