-- Whether the caller's working copy lacks the head.
local Admission = require('admission/admission')
local Answer = require('answer')
local Commits = require('heads/commits')
local Limits = require('admission/limits')

local Behind = {}

-- Whether the caller is behind: '0' no, '1' yes, '?' if none of its commits is known to be on the branch; and whether the source has yet
-- to be asked.
function Behind.compare_heads(call)
  if Commits.has_commit(call.request.known_commits, call.head.commit) then
    return '0', false
  end
  if not call.request.fetched_head then
    local recent = redis.call('HGET', call.keys.head, 'recent') or ''
    for commit in string.gmatch(call.request.known_commits, '%S+') do
      if Commits.has_commit(recent, commit) then
        return '1', false
      end
    end
  end
  return '?', call.request.may_ask_source or false
end

-- The denial if only the source knows: LIMITED, or ASK_SOURCE: `head`, its `age` in seconds, and its `etag`, absent for none. If a new head
-- cannot be recorded, the source is not asked for the head: the known one counts as fresh.
function Behind.ask_source(call)
  local head = call.head
  return Limits.count(call, 'COMMITS')
    or Answer.reply(call, 'ASK_SOURCE', {
      head = head.commit,
      age = head.is_kept and 0 or head.age,
      etag = Admission.trusted_etag(call),
    })
end

return Behind
