-- Reads the entries of all files that the caller holds on the branch, and returns these files, sorted; nil if there are too
-- many entries. A caller that holds nothing in the repository causes no read; otherwise the maximum of a repository is the
-- limit.
local function load_held()
  local held = {}
  if not redis.call('HGET', keys.held, '@' .. request.user_id) then
    return held
  end
  local by_caller = '"user_id":' .. cjson.encode(request.user_id)
  local stored = redis.call('HGETALL', keys.locks)
  for index = 1, #stored, 2 do
    local path, value = stored[index], stored[index + 1]
    if string.find(value, by_caller, 1, true) then
      local entries, is_held = cjson.decode(value), false
      for _, entry in ipairs(entries) do
        is_held = is_held or (entry.branch == request.branch and is_own(entry) and not has_expired(entry))
      end
      if is_held then
        held[#held + 1] = path
        load_value(path, value, entries)
      end
      if loaded > MOST_AT_ONCE then
        return nil
      end
    end
  end
  table.sort(held)
  return held
end
