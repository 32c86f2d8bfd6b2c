-- check_status: what stands in the way of reading or writing some files. Changes nothing but what has expired.
-- KEYS: those of includes/enter.lua, then 1 locks, 2 expiries, 3 graph, 4 adjacency, 5 status log, 6 events channel,
--       7 held, 8 graph as JSON, 9 scan of the graph
-- ARGV: those of includes/enter.lua, then 1 READING or WRITING, 2 neighbour policy, 3... file paths
-- Returns { CHECKED, now, head, its age in seconds or '', '1' if it is unconfirmed, behind: '0', '1' or '?', graph version, omitted
--           neighbours, findings, own entries as JSON }
--      or { TOO_MUCH, now, LOCKS or NEIGHBORS }: of which there are too many to look at
--      or { ASK_SOURCE, now, head, its age, etag or '' }: whether the caller is behind, only the source can tell
--      or one of the answers of enter()
local stop = enter()
if stop then
  return stop
end
locks_key, expiries_key, graph_key, adjacency_key, status_log_key, events_channel, held_key, json_key, scan_key =
  unpack(KEYS, ENTRY_KEYS + 1)
local wanted, neighbor_policy = ARGV[ENTRY_ARGUMENTS + 1], ARGV[ENTRY_ARGUMENTS + 2]
local paths = arguments_from(ENTRY_ARGUMENTS + 3)

local behind, is_for_source = is_behind_head()
if is_for_source then
  return ask_source()
end
local findings, too_much, omitted, own = survey(paths, wanted, neighbor_policy)
if not findings then
  return { 'TOO_MUCH', now, too_much }
end
-- What has expired is only cleared away here: where the store cannot be written, a later script does it. SETRANGE of nothing
-- changes nothing, and is refused as any write is.
local has_expired = next(is_changed) ~= nil
local trial = has_expired and redis.pcall('SETRANGE', KEYS[3], 0, '')
if type(trial) == 'number' then
  save_entries()
end

local own_entries = {}
for _, path in ipairs(paths) do
  if own[path] then
    own_entries[#own_entries + 1] = cjson.encode(own[path])
  end
end
local version = graph_version({ adjacency_key, json_key, scan_key })
return { 'CHECKED', now, repo_head, head_age, is_unconfirmed, behind, version, omitted, findings, own_entries }
