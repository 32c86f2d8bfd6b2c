-- Locks of a member that stops without having pushed.
local Entries = require('locks/entries')
local Request = require('admission/request')

local Unpushed = {}

-- The locks for writing that the caller has on any branch: a push would have released them. Returns the first 100, as { branch, file path },
-- and their number.
function Unpushed.locks(call)
  local MAX_NAMED = 100
  local locks, named = {}, {}
  if tonumber(redis.call('HGET', call.keys.held, '@' .. call.request.user_id) or 0) == 0 then
    return named, 0
  end
  -- Decoding the locks of all others would take too long.
  local of_person = '"user_id":' .. cjson.encode(call.request.user_id)
  local stored = redis.call('HGETALL', call.keys.locks)
  for index = 2, #stored, 2 do
    local value = stored[index]
    for _, entry in ipairs(string.find(value, of_person, 1, true) and cjson.decode(value) or {}) do
      if Request.is_own(call, entry) and entry.status == 'WRITING' and not Entries.has_expired(call, entry) then
        locks[#locks + 1] = { entry.branch, entry.file_path }
      end
    end
  end
  table.sort(locks, function(left, right)
    if left[1] ~= right[1] then
      return left[1] < right[1]
    end
    return left[2] < right[2]
  end)
  for index = 1, math.min(#locks, MAX_NAMED) do
    named[index] = locks[index]
  end
  return named, #locks
end

return Unpushed
