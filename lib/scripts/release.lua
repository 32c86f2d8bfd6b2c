-- release: gives back what the caller holds of some files, all of it or nothing.
-- KEYS: 1 locks, 2 expiries, 3 head, 4 graph, 5 adjacency, 6 status log, 7 events channel
-- ARGV: 1 branch, 2 user id, 3 user name, 4 agent id or '', 5 head of the branch or '' (then the stored one counts),
--       6 the caller's new head or '', 7 whether that is reachable from the head of the branch: '1', '0', or '' where only
--       the store can tell, 8 '1' to release without a push, 9 message, 10 most importers to return, 11... file paths
-- Returns { RELEASED, now, head, graph version, released paths, paths that were no longer held, others' entries on the
--           paths as JSON, files that import what was released, how many of them there are }
--      or { NOT_PUSHED, now, head, written paths }: files were written and the branch does not have the work; nothing released
--      or { NO_NEW_HEAD, now, head, written paths }: the caller did not say its new head; nothing released
--      or { LOST, now, head, others' entries as JSON }: a file is now written by somebody else; nothing released
--      or { UNKNOWN_HEAD, now }: no head is known for this branch
locks_key, expiries_key, head_key, graph_key, adjacency_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
status_log_key, events_channel = KEYS[6], KEYS[7]
branch, user_id, user_name, agent_id = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local repo_head, new_head, reachable, is_abandoned = ARGV[5], ARGV[6], ARGV[7], ARGV[8] == '1'
local message, most_importers = ARGV[9], tonumber(ARGV[10])
local paths = arguments_from(11)

local stored_head = redis.call('HMGET', head_key, 'commit', 'recent')
if repo_head == '' then
  repo_head = stored_head[1]
  if not repo_head then
    return { 'UNKNOWN_HEAD', now }
  end
end

load_entries(paths)
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
    return { 'NO_NEW_HEAD', now, repo_head, written_paths }
  end
  if reachable == '' then
    reachable = has_commit(repo_head .. ' ' .. (stored_head[2] or ''), new_head) and '1' or '0'
  end
  if is_unchanged or reachable ~= '1' then
    save_entries()
    emit_refusal('OPEN', message, paths, 'NOT_PUSHED')
    return { 'NOT_PUSHED', now, repo_head, written_paths }
  end
end

if #taken > 0 then
  save_entries()
  emit_refusal('OPEN', message, paths, 'LOST', taken_paths)
  return { 'LOST', now, repo_head, taken }
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
  released[index] = path
end
save_entries()
if message ~= '' then
  for _, entry in ipairs(own) do
    entry.message = message
  end
end
emit_by_claim('lock_released', own)

-- Who imports what was released.
local importers, importer_count, is_seen = {}, 0, {}
for _, path in ipairs(released) do
  is_seen[path] = true
end
local function visit(sign, path)
  if sign == '<' and not is_seen[path] then
    is_seen[path] = true
    importer_count = importer_count + 1
    if importer_count <= most_importers then
      importers[importer_count] = path
    end
  end
end
local texts = #released > 0 and adjacency_of(released) or {}
for _, path in ipairs(released) do
  local text = texts[path] or ''
  local chunks = string.match(text, '^B%d+:(%d+)')
  if chunks then
    each_neighbor_of_hub(path, tonumber(chunks), visit)
  else
    each_neighbor(text, visit)
  end
end
local version = redis.call('HGET', graph_key, 'version') or ''
return { 'RELEASED', now, repo_head, version, released, missing, others, importers, importer_count }
