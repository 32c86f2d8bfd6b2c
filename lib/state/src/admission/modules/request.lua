-- The fields of a request, and the KEYS by name. ARGV[1] is JSON, as `lib/state/src/admission/terms.rs` writes it: `keys`, the names of
-- KEYS in order, separated by blanks (`request_keys.rs`); `branch`, and `work_branch` if the caller commits to a different one; `user_id`,
-- `user_name`, `agent_id`, '' for none; `kind`: READ, CLAIM, RELEASE, or MARKED, a claim whose repository has just been put on the due list;
-- `cost`, 0 if it has been counted; `rates` (admission/limits), absent if nothing is limited; `fetched_head`, which a source has just
-- returned; without it `any_head`: the stored head will do, or none; `refresh_after`: seconds after which the stored head is fetched again,
-- absent for never; `most_age`: its maximum age in seconds; `may_ask_source`: a source can be asked about the caller's commits, and was not;
-- and `known_commits`, which the caller's working copy contains, separated by blanks. A function may have further fields. A function without
-- an admission has only those, and `keys`.
local Memo = require('memo')

local Request = {}

local names_in = Memo.of(function(text)
  local names = {}
  for name in string.gmatch(text, '%S+') do
    names[#names + 1] = name
  end
  return names
end)

-- Reads the request of any function, as the table `call` that its modules share.
function Request.read(KEYS, ARGV)
  local request, keys = cjson.decode(ARGV[1]), {}
  local names = names_in(request.keys)
  for index = 1, #names do
    keys[names[index]] = KEYS[index]
  end
  request.key_count = #names
  return { request = request, keys = keys }
end

-- The same for a function with an admission.
function Request.begin(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  call.request.work_branch = call.request.work_branch or ''
  return call
end

-- Whether `entry` is the caller's. A holder is a person and an agent.
function Request.is_own(call, entry)
  return entry.user_id == call.request.user_id and (entry.agent_id or '') == call.request.agent_id
end

return Request
