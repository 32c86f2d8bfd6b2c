-- The stored head of a branch.
local Emit = require('events/emit')

local SetHead = {}

-- Keeps the head for as long as a graph after its last confirmation, so that branches without requests expire. A later
-- request fetches it from the source.
function SetHead.keep_head(call)
  local HEAD_SECONDS = 14 * 86400
  redis.call('EXPIRE', call.keys.head, HEAD_SECONDS)
end

-- Moves the branch to `commit`, and announces that. `origin` is `fetched` or `webhook`; `recent` has commits of the
-- branch, newest first; the first 200 are kept.
function SetHead.set(call, branch, commit, previous, origin, recent)
  local MAX_RECENT = 200
  local commits, is_listed = {}, {}
  for listed in string.gmatch(recent, '%S+') do
    if #commits < MAX_RECENT and not is_listed[listed] then
      is_listed[listed] = true
      commits[#commits + 1] = listed
    end
  end
  redis.call('HSET', call.keys.head, 'commit', commit, 'known_at', call.now, 'origin', origin, 'recent', table.concat(commits, ' '))
  SetHead.keep_head(call)
  Emit.event(call, { type = 'head_moved', branch = branch, head = commit, previous = previous or nil })
end

return SetHead
