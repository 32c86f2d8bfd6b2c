-- Room for the locks of a claim. Needs: request.
-- @include locks/held

-- Counts the locks that the caller will have on `paths`; `entries_of` are all entries there, and `own` the caller's. Returns
-- nil, or the part without room: FILE and its path, PERSON or REPOSITORY; then nothing is counted. A renewal always has
-- room.
local function reserve(paths, entries_of, own, key_prefix, message)
  local MOST_UNDER_FILE, MOST_UNDER_FILE_OF_PERSON, MOST_OF_PERSON, MOST_OF_REPOSITORY = 256, 64, 2000, 10000
  local amount, is_renewal = 0, true
  for _, path in ipairs(paths) do
    local entry = own[path]
    if not entry then
      is_renewal = false
      local count, of_person = #entries_of[path], 0
      for index = 1, count >= MOST_UNDER_FILE_OF_PERSON and count or 0 do
        of_person = of_person + (entries_of[path][index].user_id == request.user_id and 1 or 0)
      end
      if count >= MOST_UNDER_FILE or of_person >= MOST_UNDER_FILE_OF_PERSON then
        return 'FILE', path
      end
    end
    amount = amount + size_of(key_prefix .. path, path, message, request.user_name)
      - (entry and size_of(entry.key, path, entry.message, entry.user_name) or 0)
  end
  change_held(request.user_id, amount)
  save_held()
  if is_renewal or amount <= 0 then
    return nil
  end
  local whose = (held_sum['@' .. request.user_id] or 0) > MOST_OF_PERSON and 'PERSON'
    or (held_sum.all or 0) > MOST_OF_REPOSITORY and 'REPOSITORY'
    or nil
  if whose then
    change_held(request.user_id, -amount)
    save_held()
  end
  return whose, ''
end
