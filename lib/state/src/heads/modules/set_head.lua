-- Keeps the head for as long as a graph after its last confirmation, so that branches without requests expire. A later
-- request fetches it from the source.
local Emit = require('events/emit')

local SetHead = {}

function SetHead.keep_head(call)
  local HEAD_SECONDS = 14 * 86400
  redis.call('EXPIRE', call.keys.head, HEAD_SECONDS)
end

-- The branch is at `commit` now, which is announced. `origin` is `fetched` or `webhook`; `recent` is commits of the
-- branch, newest first; the first 200 are kept.

function SetHead.set(call, branch, commit, previous, origin, recent)
  local MOST_RECENT = 200
  local kept, is_kept = {}, {}
  for one in string.gmatch(recent, '%S+') do
    if #kept < MOST_RECENT and not is_kept[one] then
      is_kept[one] = true
      kept[#kept + 1] = one
    end
  end
  redis.call('HSET', call.keys.head, 'commit', commit, 'known_at', call.now, 'origin', origin, 'recent', table.concat(kept, ' '))
  SetHead.keep_head(call)
  Emit.event(call, { type = 'head_moved', branch = branch, head = commit, previous = previous or nil })
end

return SetHead
