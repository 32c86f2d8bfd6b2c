-- release: gives back what the caller holds of some files, all of it or nothing.
-- KEYS: those of includes/enter.lua, then 1 locks, 2 expiries, 3 graph, 4 adjacency, 5 status log, 6 events channel,
--       7 held, 8 graph as JSON, 9 scan of the graph, 10 refusals
-- ARGV: those of includes/enter.lua, then 1 the caller's new head or '', 2 whether that is reachable from the head of the
--       branch: '1', '0', or '' where that is not known yet, 3 '1' to release without a push, 4 message, 5 most importers to
--       return, 6... file paths
-- Returns { RELEASED, now, head, its age in seconds or '', '1' if it is unconfirmed, graph version, released paths, paths that
--           were no longer held, others' entries on the paths as JSON, files that import what was released, how many of them
--           there are, '1' if there are more than could be counted }
--      or { NOT_PUSHED, now, head, its age, '1' if unconfirmed, written paths }: files were written and the branch does not
--           have the work; nothing released
--      or { NO_NEW_HEAD, now, head, age, unconfirmed, written paths }: the caller did not say its new head; nothing released
--      or { LOST, now, head, age, unconfirmed, others' entries as JSON }: a file is now written by somebody else; nothing
--           released
--      or { TOO_MUCH, now, LOCKS }: on these files there are too many to look at; nothing released
--      or { ASK_SOURCE, now, head, its age, etag or '' }: whether the branch has the work, only the source can tell; nothing released
--      or one of the answers of enter(); nothing released
local stop = enter()
if stop then
  return stop
end
locks_key, expiries_key, graph_key, adjacency_key, status_log_key, events_channel, held_key, json_key, scan_key,
  refusals_key = unpack(KEYS, ENTRY_KEYS + 1)
local new_head, reachable, is_abandoned, message = unpack(ARGV, ENTRY_ARGUMENTS + 1, ENTRY_ARGUMENTS + 4)
is_abandoned = is_abandoned == '1'
local most_importers = tonumber(ARGV[ENTRY_ARGUMENTS + 5])
local paths = arguments_from(ENTRY_ARGUMENTS + 6)

if not load_entries(paths, MOST_AT_ONCE) then
  return { 'TOO_MUCH', now, 'LOCKS' }
end
local own, missing, written, others, taken, taken_paths = {}, {}, {}, {}, {}, {}
for _, path in ipairs(paths) do
  local mine
  for _, entry in ipairs(entries_of[path]) do
    if entry.branch == branch and is_own(entry) then
      mine = entry
    end
  end
  if mine then
    own[#own + 1] = mine
    if mine.status == 'WRITING' then
      written[#written + 1] = mine
    end
  else
    missing[#missing + 1] = path
    for _, entry in ipairs(entries_of[path]) do
      if entry.branch == branch then
        others[#others + 1] = cjson.encode(entry)
        if entry.status == 'WRITING' then
          taken[#taken + 1] = cjson.encode(entry)
          taken_paths[#taken_paths + 1] = path
        end
      end
    end
  end
end

if #written > 0 and not is_abandoned then
  local written_paths, is_unchanged = {}, false
  for index, entry in ipairs(written) do
    written_paths[index] = entry.file_path
    is_unchanged = is_unchanged or (new_head ~= '' and is_same_commit(entry.agent_head, new_head))
  end
  if new_head == '' then
    save_entries()
    return { 'NO_NEW_HEAD', now, repo_head, head_age, is_unconfirmed, written_paths }
  end
  if reachable == '' then
    local recent = redis.call('HGET', head_key, 'recent') or ''
    local is_pushed = has_commit(repo_head .. ' ' .. recent, new_head)
    if not is_pushed and not is_unchanged and not is_asked and ARGV[13] ~= '' then
      save_entries()
      return ask_source()
    end
    reachable = is_pushed and '1' or '0'
  end
  if is_unchanged or reachable ~= '1' then
    save_entries()
    emit_refusal('OPEN', message, paths, 'NOT_PUSHED')
    return { 'NOT_PUSHED', now, repo_head, head_age, is_unconfirmed, written_paths }
  end
end

if #taken > 0 then
  save_entries()
  emit_refusal('OPEN', message, paths, 'LOST', taken_paths)
  return { 'LOST', now, repo_head, head_age, is_unconfirmed, taken }
end

local released = {}
for index, mine in ipairs(own) do
  local path, left = mine.file_path, {}
  for _, entry in ipairs(entries_of[path]) do
    if entry ~= mine then
      left[#left + 1] = entry
    end
  end
  entries_of[path] = left
  is_changed[path] = true
  count_held(mine, -1)
  released[index] = path
end
save_entries()
if message ~= '' then
  for _, entry in ipairs(own) do
    entry.message = message
  end
end
emit_by_claim('lock_released', own)

local importers, importer_count, has_more = importers_of(released, most_importers)
local version = graph_version({ adjacency_key, json_key, scan_key })
return {
  'RELEASED', now, repo_head, head_age, is_unconfirmed, version, released, missing, others, importers, importer_count,
  has_more and '1' or '0',
}
