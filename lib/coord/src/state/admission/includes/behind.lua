-- Whether the caller's working copy lacks the head. Needs: admission.

-- '0' no, '1' yes, '?' if none of the caller's commits is known to be on the branch; and whether the source has yet to be
-- asked.
local function is_behind_head()
  if has_commit(request.known_commits, head.commit) then
    return '0', false
  end
  if request.fetched_head == '' then
    local recent = redis.call('HGET', keys.head, 'recent') or ''
    for commit in string.gmatch(request.known_commits, '%S+') do
      if has_commit(recent, commit) then
        return '1', false
      end
    end
  end
  return '?', not request.has_asked_source
end

-- The outcome if only the source can tell. If another head cannot be recorded, the source is not asked for the head: the
-- known one counts as fresh.
local function ask_source()
  return count('COMMITS') or { 'ASK_SOURCE', now, head.commit, head.is_kept and 0 or head.age, trusted_etag() }
end
