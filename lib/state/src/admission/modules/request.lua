-- The fields of a request, and the KEYS by their names. ARGV[1] is JSON, as `lib/state/src/admission/terms.rs` writes it: `keys`, the
-- names of KEYS in their order, separated by blanks (`request_keys.rs`); `branch`, and `work_branch` where the caller commits to another
-- one; `user_id`, `user_name`, `agent_id`, '' for none; `kind`: READ, CLAIM, RELEASE, or MARKED, a claim whose repository has just been put
-- on the due list; `cost`, 0 where it has been counted; `rates` (admission/limits), absent where nothing is limited; `fetched_head`,
-- which a source has just returned; without it `any_head`: the stored head will do, or none; `refresh_after`: seconds after which the
-- stored one is fetched again, absent for never; `most_age`: its maximum age in seconds; `may_ask_source`: a source can be asked about the
-- caller's commits, and was not; and `known_commits`, which the caller's working copy contains, separated by blanks. A function may have further
-- fields. A function without an admission has these alone, and `keys`.
local Memo = require('memo')

local Request = {}

-- The place of each of the names, and their number.
local places_of = Memo.of(function(names)
  local places, count = {}, 0
  for name in string.gmatch(names, '%S+') do
    count = count + 1
    places[name] = count
  end
  return { by_name = places, count = count }
end)

-- The request of any function, as the table `call` of its modules. A key is looked up where it is used: most functions use half of theirs.
function Request.read(KEYS, ARGV)
  local request = cjson.decode(ARGV[1])
  local places = places_of(request.keys)
  local by_name = places.by_name
  local function key(_, name)
    return KEYS[by_name[name]]
  end
  request.key_count = places.count
  return { request = request, keys = setmetatable({}, { __index = key }) }
end

-- The same of a function with an admission.
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
