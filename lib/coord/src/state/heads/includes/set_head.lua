-- Keeps the head for as long as a graph after its last confirmation, so that branches without requests expire. A later
-- request fetches it from the source. Needs: keys.head.
local function keep_head()
  local HEAD_SECONDS = 14 * 86400
  redis.call('EXPIRE', keys.head, HEAD_SECONDS)
end

-- The branch is at `commit` now, which is announced. `origin` is `fetched` or `webhook`; `recent` is commits of the
-- branch, newest first; the first 200 are kept.
-- Needs: keys.head, and those of events/emit.
-- @include events/emit

local function set_head(branch, commit, previous, origin, recent)
  local MOST_RECENT = 200
  local kept, is_kept = {}, {}
  for one in string.gmatch(recent, '%S+') do
    if #kept < MOST_RECENT and not is_kept[one] then
      is_kept[one] = true
      kept[#kept + 1] = one
    end
  end
  redis.call('HSET', keys.head, 'commit', commit, 'known_at', now, 'origin', origin, 'recent', table.concat(kept, ' '))
  keep_head()
  emit({ type = 'head_moved', branch = branch, head = commit, previous = previous or nil })
end
