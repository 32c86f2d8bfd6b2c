-- tell_interfaces: announces that interfaces changed that a writer was to keep, and leaves it with the locks on neighbors for their
-- holders. It follows a release that was counted, and counts nothing.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 17... pairs of a file and the names that changed, separated by newlines
-- Returns { TOLD, now, number of locks whose holders are told }
local changes = { unpack(ARGV, 17) }
-- @include admission/request
-- @include locks/neighbors
-- @include locks/changes
-- @include locks/notices

local count = 0
for index = 1, #changes, 2 do
  local file, names, told = changes[index], {}, 0
  for name in string.gmatch(changes[index + 1], '[^\n]+') do
    names[#names + 1] = name
  end
  local neighbors = neighbors_to_look_at({ file }, 0) or {}
  load_entries(neighbors, MOST_AT_ONCE)
  for _, path in ipairs(neighbors) do
    for _, entry in ipairs(entries_of[path] or {}) do
      if entry.branch == request.branch and not is_own(entry)
        and add_notice(entry, file, request.user_id, table.concat(names_of(names) or {}, ', ')) then
        is_changed[path] = true
        told = told + 1
      end
    end
  end
  count = count + told
  emit({
    type = 'interface_changed',
    user = request.user_id,
    user_name = request.user_name,
    agent_id = request.agent_id ~= '' and request.agent_id or nil,
    branch = request.branch,
    files = names_of({ file }),
    file_count = 1,
    names = names_of(names),
    told = told,
    time_ms = now_ms,
  })
end
save_entries()
return { 'TOLD', now, count }
