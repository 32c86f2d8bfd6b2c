-- Adds pending changes at a release. Needs: request.
-- @include locks/pending

-- Keeps `entry`, which the caller has released, whose file is `blob` at `commit` of the caller's work branch. False where there is no
-- room: the oldest are not dropped for it, since somebody may rely on them.
pending.add = function(entry, commit, blob)
  local DAYS, MOST_UNDER_FILE, MOST_UNDER_FILE_OF_PERSON, MOST_OF_PERSON, MOST = 14, 16, 8, 2000, 10000
  local path, kept, gone, own = entry.file_path, {}, {}, 0
  local live, forgotten = pending.live(redis.call('HGET', keys.pending, path))
  for _, other in ipairs(live) do
    local is_replaced = other.branch == entry.branch and other.work_branch == request.work_branch
    table.insert(is_replaced and gone or kept, other)
    own = own + (not is_replaced and other.user_id == request.user_id and 1 or 0)
  end
  local of_person, of_all, pull_request = unpack(redis.call(
    'HMGET', keys.pending, '\n' .. request.user_id, '\n', '\n' .. request.branch .. '\n' .. request.work_branch
  ))
  local is_full = #kept >= MOST_UNDER_FILE or own >= MOST_UNDER_FILE_OF_PERSON or tonumber(of_person or 0) >= MOST_OF_PERSON or tonumber(of_all or 0) >= MOST
  for _, other in ipairs(forgotten) do
    gone[#gone + 1] = other
  end
  local added = {}
  if not is_full then
    added[1] = {
      key = entry.key, file_path = path, branch = entry.branch, work_branch = request.work_branch, user_id = entry.user_id,
      user_name = entry.user_name, agent_id = entry.agent_id, status = entry.status, agent_head = commit, blob = blob,
      message = entry.message, timestamp = now, expiry = now + DAYS * 86400, token = entry.token,
      pull_request = tonumber(pull_request),
    }
    kept[#kept + 1] = added[1]
  end
  pending.store(path, kept, added, gone)
  if not is_full and (load_graph()[5] or '') == '' then
    redis.call('HSET', keys.graph, 'pending', '1')
    if redis.call('TTL', keys.graph) < 0 then
      redis.call('EXPIRE', keys.graph, GRAPH_DAYS * DAY)
    end
    graph_fields = nil
  end
  return not is_full
end
