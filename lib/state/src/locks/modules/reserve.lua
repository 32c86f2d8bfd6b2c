-- Room for the locks of a claim.
local Held = require('locks/held')

local Reserve = {}

-- Counts the locks that the caller will have on `paths`; `own` has its current ones. Returns nil, or the part without room: FILE and its
-- path, PERSON or REPOSITORY; then nothing is counted. A renewal always has room.
function Reserve.locks(call, paths, own, key_prefix, message)
  local MAX_UNDER_FILE, MAX_UNDER_FILE_PER_PERSON, MAX_PER_PERSON, MAX_PER_REPOSITORY = 256, 64, 2000, 10000
  local amount, is_renewal = 0, true
  for _, path in ipairs(paths) do
    local entry = own[path]
    if not entry then
      is_renewal = false
      local count, of_person = #call.entries_of[path], 0
      for index = 1, count >= MAX_UNDER_FILE_PER_PERSON and count or 0 do
        of_person = of_person + (call.entries_of[path][index].user_id == call.request.user_id and 1 or 0)
      end
      if count >= MAX_UNDER_FILE or of_person >= MAX_UNDER_FILE_PER_PERSON then
        return 'FILE', path
      end
    end
    amount = amount
      + Held.size_of(key_prefix .. path, path, message, call.request.user_name)
      - (entry and Held.size_of(entry.key, path, entry.message, entry.user_name) or 0)
  end
  Held.change(call, call.request.user_id, amount)
  Held.save(call)
  if is_renewal or amount <= 0 then
    return nil
  end
  local whose = (call.held_sum['@' .. call.request.user_id] or 0) > MAX_PER_PERSON and 'PERSON'
    or (call.held_sum.all or 0) > MAX_PER_REPOSITORY and 'REPOSITORY'
    or nil
  if whose then
    Held.change(call, call.request.user_id, -amount)
    Held.save(call)
  end
  return whose
end

return Reserve
