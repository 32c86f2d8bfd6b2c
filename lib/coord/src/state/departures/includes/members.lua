-- All members of the team. Needs: team.
-- @include tasks/task
-- @include teams/live

local members = {} -- key of a handle -> member
local seen = {} -- key of a handle -> when it was last seen, Unix milliseconds

local function load_members()
  local stored = redis.call('HGETALL', keys.team)
  for index = 1, #stored, 2 do
    if string.sub(stored[index], 1, 1) == '=' then
      members[string.sub(stored[index], 2)] = cjson.decode(stored[index + 1])
    end
  end
  if member then
    members[string.lower(member.handle)] = member
  end
  stored = redis.call('HGETALL', keys.seen)
  for index = 1, #stored, 2 do
    seen[stored[index]] = tonumber(stored[index + 1])
  end
end

-- Whether a member was seen lately, or holds a claim.
local function is_live(key)
  local record = members[key]
  if was_seen_lately(seen[key]) then
    return true
  end
  for id in string.gmatch(record.claims, '%S+') do
    local task = load_task(id)
    if task and is_owned_by(task, record) then
      return true
    end
  end
  return false
end
