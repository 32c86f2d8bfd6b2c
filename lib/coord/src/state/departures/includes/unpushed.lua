-- What a member that stops has not pushed. Needs: team.
-- @include locks/entries

-- The locks for writing that the caller has on any branch: a push would have released them. The first 100, as { branch, file path }, and
-- how many there are.
local function unpushed_locks()
  local MOST_NAMED = 100
  local found, named = {}, {}
  if tonumber(redis.call('HGET', keys.held, '@' .. request.user_id) or 0) == 0 then
    return named, 0
  end
  -- To decode the locks of all others takes too long.
  local of_person = '"user_id":' .. cjson.encode(request.user_id)
  local locks = redis.call('HGETALL', keys.locks)
  for index = 2, #locks, 2 do
    local stored = locks[index]
    for _, entry in ipairs(string.find(stored, of_person, 1, true) and cjson.decode(stored) or {}) do
      if is_own(entry) and entry.status == 'WRITING' and not has_expired(entry) then
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
