-- Locks that a person force-released. The next answer to their holder reports them.
--
-- The releases are a JSON list, the oldest first, which is read with the admission: `user_id`, `agent_id`, `branch`, `files`, `by`,
-- `message`, `time`, and `is_told`, once a call for other files was notified.
local Answer = require('answer')
local HoldsAll = require('locks/holds_all')
local Request = require('admission/request')

local ForceReleased = {}

local MAX_TAKEN, MAX_TAKEN_BYTES, TAKEN_FOR = 64, 65536, 3600

function ForceReleased.load(call)
  local releases = {}
  for _, release in ipairs(call.request.taken and cjson.decode(call.request.taken) or {}) do
    if math.abs(call.now - release.time) < TAKEN_FOR then
      releases[#releases + 1] = release
    end
  end
  return releases
end

-- Writes the newest releases that fit: first up to a quarter of the room for each login that made some, so that no login evicts those of
-- others. If the store cannot be written, they are reported again.
function ForceReleased.save(call, releases)
  local text_of, total, use_of = {}, { count = 0, bytes = 0 }, {}
  for _, share in ipairs({ 4, 1 }) do
    for index = #releases, 1, -1 do
      local release = releases[index]
      local use = share == 1 and total or use_of[release.by] or { count = 0, bytes = 0 }
      use_of[release.by] = use_of[release.by] or use
      local is_tried = not text_of[index] and total.count < MAX_TAKEN and use.count < MAX_TAKEN / share
      local text = is_tried and cjson.encode(release) or ''
      if is_tried and math.max(use.bytes * share, total.bytes) + #text * share <= MAX_TAKEN_BYTES then
        text_of[index], use.count, use.bytes = text, use.count + 1, use.bytes + #text
        if use ~= total then
          total.count, total.bytes = total.count + 1, total.bytes + #text
        end
      end
    end
  end
  local texts = {}
  for index = 1, #releases do
    texts[#texts + 1] = text_of[index]
  end
  if #texts > 0 then
    redis.pcall('SET', call.keys.taken, '[' .. table.concat(texts, ',') .. ']', 'EX', TAKEN_FOR)
  else
    redis.pcall('DEL', call.keys.taken)
  end
end

-- The denial LOCK_TAKEN of a request for `paths` by a holder whose locks were force-released: `by`: login of the person, the person's
-- `message`, and the `files`; or nil. A request for one of these files is denied until the holder releases the file. A request for other
-- files is denied once, unless the caller holds all of them: a program that renews locks must not consume the notice for its agent.
-- A release (`is_release`) without paths is one of everything, which clears the notices.
function ForceReleased.denial(call, paths, is_release)
  local is_named, remaining, denial, is_changed = {}, {}, nil, false
  for _, path in ipairs(paths) do
    is_named[path] = true
  end
  for _, release in ipairs(ForceReleased.load(call)) do
    local is_cleared = false
    if release.branch == call.request.branch and Request.is_own(call, release) then
      local names_file = false
      for _, path in ipairs(release.files) do
        names_file = names_file or is_named[path]
      end
      is_cleared = is_release and (names_file or #paths == 0)
      if #paths > 0 and (names_file or not (release.is_told or HoldsAll.of(call, paths))) then
        denial = denial or Answer.reply(call, 'LOCK_TAKEN', { by = release.by, message = release.message, files = release.files })
        is_changed = is_changed or not names_file
        release.is_told = release.is_told or not names_file or nil
      end
    end
    is_changed = is_changed or is_cleared
    if not is_cleared then
      remaining[#remaining + 1] = release
    end
  end
  if is_changed then
    ForceReleased.save(call, remaining)
  end
  return denial
end

return ForceReleased
