-- Locks that a person released by force. The next answer to their holder says so.
--
-- They are a JSON list, the oldest first, and are read with the admission: `user_id`, `agent_id`, `branch`, `files`, `by`, `message`,
-- `time`, and `is_told`, once a call for other files was notified.
local Answer = require('answer')
local HoldsAll = require('locks/holds_all')
local Request = require('admission/request')

local ForceReleased = {}

local MOST_TAKEN, MOST_TAKEN_BYTES, TAKEN_FOR = 64, 65536, 3600

function ForceReleased.load(call)
  local found = {}
  for _, one in ipairs(call.request.taken and cjson.decode(call.request.taken) or {}) do
    if math.abs(call.now - one.time) < TAKEN_FOR then
      found[#found + 1] = one
    end
  end
  return found
end

-- Writes the newest that fit: first a quarter of the room for each login that took some, so that no login pushes others out. If the
-- store cannot be written, they are reported again.
function ForceReleased.save(call, list)
  local fits, all, of_login = {}, { count = 0, bytes = 0 }, {}
  for _, share in ipairs({ 4, 1 }) do
    for index = #list, 1, -1 do
      local one = list[index]
      local taker = share == 1 and all or of_login[one.by] or { count = 0, bytes = 0 }
      of_login[one.by] = of_login[one.by] or taker
      local is_tried = not fits[index] and all.count < MOST_TAKEN and taker.count < MOST_TAKEN / share
      local text = is_tried and cjson.encode(one) or ''
      if is_tried and math.max(taker.bytes * share, all.bytes) + #text * share <= MOST_TAKEN_BYTES then
        fits[index], taker.count, taker.bytes = text, taker.count + 1, taker.bytes + #text
        if taker ~= all then
          all.count, all.bytes = all.count + 1, all.bytes + #text
        end
      end
    end
  end
  local texts = {}
  for index = 1, #list do
    texts[#texts + 1] = fits[index]
  end
  if #texts > 0 then
    redis.pcall('SET', call.keys.taken, '[' .. table.concat(texts, ',') .. ']', 'EX', TAKEN_FOR)
  else
    redis.pcall('DEL', call.keys.taken)
  end
end

-- The denial LOCK_TAKEN of a request for `paths` of a holder whose locks were released by force: `by`: login of the person, its `message`, and the
-- `files`; or nil. A request for one of these files is denied until the holder releases the file; one for other files
-- once, unless the caller holds all of these: programs renew locks for agents, and must not take the news from them.
-- `is_release` of no paths is one of everything: it ends all of this.
function ForceReleased.denial(call, paths, is_release)
  local is_named, kept, denial, is_changed = {}, {}, nil, false
  for _, path in ipairs(paths) do
    is_named[path] = true
  end
  for _, one in ipairs(ForceReleased.load(call)) do
    local is_over = false
    if one.branch == call.request.branch and Request.is_own(call, one) then
      local names = false
      for _, path in ipairs(one.files) do
        names = names or is_named[path]
      end
      is_over = is_release and (names or #paths == 0)
      if #paths > 0 and (names or not (one.is_told or HoldsAll.of(call, paths))) then
        denial = denial or Answer.reply(call, 'LOCK_TAKEN', { by = one.by, message = one.message, files = one.files })
        is_changed = is_changed or not names
        one.is_told = one.is_told or not names or nil
      end
    end
    is_changed = is_changed or is_over
    if not is_over then
      kept[#kept + 1] = one
    end
  end
  if is_changed then
    ForceReleased.save(call, kept)
  end
  return denial
end

return ForceReleased
