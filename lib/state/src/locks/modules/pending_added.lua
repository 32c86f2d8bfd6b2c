-- Adds pending changes at a release.
local GraphAge = require('builds/graph_age')
local Pending = require('locks/pending')

local PendingAdded = {}

-- Adds the change of `entry`, which the caller has released; its file is `blob` at `commit` of the caller's work branch. False if there is
-- no room: the oldest changes do not make room, since someone may rely on them.
function PendingAdded.add(call, entry, commit, blob)
  local DAYS, MAX_UNDER_FILE, MAX_UNDER_FILE_PER_PERSON, MAX_PER_PERSON, MAX_CHANGES = 14, 16, 8, 2000, 10000
  local path, kept, removed, own = entry.file_path, {}, {}, 0
  local live, expired = Pending.parse(call, redis.call('HGET', call.keys.pending, path))
  for _, other in ipairs(live) do
    local is_replaced = other.branch == entry.branch and other.work_branch == call.request.work_branch
    table.insert(is_replaced and removed or kept, other)
    own = own + (not is_replaced and other.user_id == call.request.user_id and 1 or 0)
  end
  local of_person, of_all, pull_request = unpack(
    redis.call(
      'HMGET',
      call.keys.pending,
      '\n' .. call.request.user_id,
      '\n',
      '\n' .. call.request.branch .. '\n' .. call.request.work_branch
    )
  )
  local is_full = #kept >= MAX_UNDER_FILE
    or own >= MAX_UNDER_FILE_PER_PERSON
    or tonumber(of_person or 0) >= MAX_PER_PERSON
    or tonumber(of_all or 0) >= MAX_CHANGES
  for _, other in ipairs(expired) do
    removed[#removed + 1] = other
  end
  local added = {}
  if not is_full then
    added[1] = {
      key = entry.key,
      file_path = path,
      branch = entry.branch,
      work_branch = call.request.work_branch,
      user_id = entry.user_id,
      user_name = entry.user_name,
      agent_id = entry.agent_id,
      status = entry.status,
      agent_head = commit,
      blob = blob,
      message = entry.message,
      timestamp = call.now,
      expiry = call.now + DAYS * 86400,
      token = entry.token,
      pull_request = tonumber(pull_request),
    }
    kept[#kept + 1] = added[1]
  end
  Pending.store(call, path, kept, added, removed)
  if not is_full and (GraphAge.load(call)[5] or '') == '' then
    redis.call('HSET', call.keys.graph, 'pending', '1')
    if redis.call('TTL', call.keys.graph) < 0 then
      redis.call('EXPIRE', call.keys.graph, GraphAge.GRAPH_DAYS * GraphAge.DAY)
    end
    call.graph_fields = nil
  end
  return not is_full
end

return PendingAdded
