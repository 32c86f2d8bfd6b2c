-- publish_graph: replaces the stored graph by the staged one, atomically, and announces it.
-- KEYS: `graph`, `status_log`, `events`; after these, without names, pairs of a live key and its staging key
-- ARGV: that of admission/request, with `builder`, `branch`, `commit`, and `parts`: of each pair of keys the `form`, HASH or STRING, and the
-- `size`, how many fields or bytes are staged. After it further fields of the graph and their values, as HSET takes them
-- Returns { PUBLISHED, now }, { LOST, now }: the builder lost the lease, or { TORN, now }: the staged parts are incomplete; both
--           change nothing
local Chunks = require('chunks')
local Clock = require('clock')
local Request = require('admission/request')
local Publish = require('builds/publish')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  Clock.begin(call)
  local request = call.request
  local function live_and_staging(index)
    return unpack(KEYS, request.key_count + 2 * index - 1, request.key_count + 2 * index)
  end

  if redis.call('HGET', call.keys.graph, 'builder') ~= request.builder then
    return { 'LOST', call.now }
  end
  for index, part in ipairs(request.parts) do
    local _, staging = live_and_staging(index)
    if not Publish.is_whole(staging, part.form, part.size) then
      return { 'TORN', call.now }
    end
  end
  local parts = {}
  for index = 1, #request.parts do
    local live, staging = live_and_staging(index)
    Publish.replace(live, staging)
    parts[index] = live
  end
  Publish.finish_build(call, request.branch, request.commit, Chunks.slice(ARGV, 2), parts)
  return { 'PUBLISHED', call.now }
end
