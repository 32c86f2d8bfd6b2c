-- The branch is at `commit` now, which is announced. `recent` is commits of the branch, newest first; the first 200 are kept.
-- Needs: head_key, branch, now, emit.
local MOST_RECENT = 200

local function set_head(commit, previous, how, recent)
  local kept, is_kept = {}, {}
  for one in string.gmatch(recent, '%S+') do
    if #kept < MOST_RECENT and not is_kept[one] then
      is_kept[one] = true
      kept[#kept + 1] = one
    end
  end
  redis.call('HSET', head_key, 'commit', commit, 'learnt_at', now, 'how', how, 'recent', table.concat(kept, ' '))
  redis.call('PERSIST', head_key)
  emit({ type = 'head_moved', branch = branch, head = commit, previous = previous or nil })
end
