-- Locks of a member that stops without having pushed.
local Entries = require('locks/entries')
local Request = require('admission/request')

local Unpushed = {}

-- The locks for writing that the caller has on any branch: a push would have released them. The first 100, as { branch, file path }, and
-- how many there are.
function Unpushed.locks(call)
  local MOST_NAMED = 100
  local found, named = {}, {}
  if tonumber(redis.call('HGET', call.keys.held, '@' .. call.request.user_id) or 0) == 0 then
    return named, 0
  end
  -- To decode the locks of all others takes too long.
  local of_person = '"user_id":' .. cjson.encode(call.request.user_id)
  local locks = redis.call('HGETALL', call.keys.locks)
  for index = 2, #locks, 2 do
    local stored = locks[index]
    for _, entry in ipairs(string.find(stored, of_person, 1, true) and cjson.decode(stored) or {}) do
      if Request.is_own(call, entry) and entry.status == 'WRITING' and not Entries.has_expired(call, entry) then
        found[#found + 1] = { entry.branch, entry.file_path }
      end
    end
  end
  table.sort(found, function(one, other)
    if one[1] ~= other[1] then
      return one[1] < other[1]
    end
    return one[2] < other[2]
  end)
  for index = 1, math.min(#found, MOST_NAMED) do
    named[index] = found[index]
  end
  return named, #found
end

return Unpushed
