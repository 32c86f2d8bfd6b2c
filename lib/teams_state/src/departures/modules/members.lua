-- All members of the team.
local Live = require('teams/live')
local Task = require('tasks/task')

local Members = {}

function Members.begin(call)
  call.members = {} -- key of a handle -> member
  call.seen = {} -- key of a handle -> when it was last seen, Unix milliseconds
end

function Members.load(call)
  local stored = redis.call('HGETALL', call.keys.team)
  for index = 1, #stored, 2 do
    if string.sub(stored[index], 1, 1) == '=' then
      call.members[string.sub(stored[index], 2)] = cjson.decode(stored[index + 1])
    end
  end
  if call.member then
    call.members[string.lower(call.member.handle)] = call.member
  end
  stored = redis.call('HGETALL', call.keys.seen)
  for index = 1, #stored, 2 do
    call.seen[stored[index]] = tonumber(stored[index + 1])
  end
end

-- Whether a member was seen lately, or holds a claim.
function Members.is_live(call, key)
  local record = call.members[key]
  if Live.was_seen_lately(call, call.seen[key]) then
    return true
  end
  for id in string.gmatch(record.claims, '%S+') do
    local task = Task.load_task(call, id)
    if task and Task.is_owned_by(call, task, record) then
      return true
    end
  end
  return false
end

return Members
