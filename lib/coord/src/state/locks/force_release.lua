-- force_release: takes others' locks on some files of the branch away. Whether the caller may is decided before.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 17 why, 18... file paths
-- Returns { FORCED, now, list of { file, login, agent or '' } whose locks they were, what waiting() tells }
--      or { TOO_MUCH, now, LOCKS }: there are too many on these files; nothing changed
--      or one of the denials of admit(); nothing changed
local message, paths = ARGV[17], { unpack(ARGV, 18) }
-- @include admission/admission
-- @include locks/changes
-- @include locks/queue
-- @include locks/taken
-- @include teams/waiting

local denial = admit()
if denial then
  return denial
end
if not load_entries(paths, MOST_AT_ONCE) then
  return { 'TOO_MUCH', now, 'LOCKS' }
end
local ended, told, list, of_holder = {}, {}, load_taken(), {}
for _, path in ipairs(paths) do
  local left = {}
  for _, entry in ipairs(entries_of[path]) do
    if entry.branch ~= request.branch or is_own(entry) then
      left[#left + 1] = entry
    else
      count_out(entry)
      entry.message, entry.forced_by = message, request.user_id
      ended[#ended + 1] = entry
      told[#told + 1] = { path, entry.user_id, entry.agent_id or '' }
      local holder = entry.user_id .. ' ' .. (entry.agent_id or '')
      if not of_holder[holder] then
        of_holder[holder] = {
          user_id = entry.user_id, agent_id = entry.agent_id, branch = request.branch, files = {}, by = request.user_id,
          message = message, time = now,
        }
        list[#list + 1] = of_holder[holder]
      end
      table.insert(of_holder[holder].files, path)
    end
  end
  if #left < #entries_of[path] then
    entries_of[path], is_changed[path] = left, true
  end
end
save_entries()
if #ended > 0 then
  emit_by_claim('lock_released', ended)
  save_taken(list)
  if request.queue then
    open_queue().freed(paths)
  end
end
return { 'FORCED', now, told, waiting() }
