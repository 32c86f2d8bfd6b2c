-- settle_pending: ends pending changes (locks/pending), or notes the number of their pull request, or what differs in their interfaces.
-- KEYS: 1 pending, 2 graph of the branch
-- ARGV: 1 branch, or '' for all, 2 work branch, 3 commit that they were pushed as, or '' for any, 4 what is done: END, NUMBER, INTERFACES, or
--       FORGET: of the branch, those that are over, 5 with NUMBER the number; with INTERFACES what differs, by file, as JSON; with END of any
--       commit the time of the delivery, which may be late or repeated: changes that were given back after it stay, 6... files, none for all
-- Returns { SETTLED, now, how many changes were ended or changed }
local Clock = require('clock')
local Pending = require('locks/pending')

return function(KEYS, ARGV)
  local call = {}
  local branch, work_branch, commit, act, detail
  call.keys, branch, work_branch, commit, act, detail = { pending = KEYS[1], graph = KEYS[2] }, unpack(ARGV, 1, 5)
  local paths, values = { unpack(ARGV, 6) }, {}
  Clock.begin(call)

  if #paths > 0 then
    values = redis.call('HMGET', call.keys.pending, unpack(paths))
  else
    local stored = redis.call('HGETALL', call.keys.pending)
    for index = 1, #stored, 2 do
      if string.sub(stored[index], 1, 1) ~= '\n' then
        paths[#paths + 1], values[#values + 1] = stored[index], stored[index + 1]
      end
    end
  end

  local differs, noted = act == 'INTERFACES' and cjson.decode(detail) or {}, {}
  local count, is_any_left, is_any_later = 0, false, false
  for place, path in ipairs(paths) do
    local value = values[place]
    -- Only what may concern the branches is decoded.
    if value and (act == 'FORGET' or string.find(value, cjson.encode(work_branch), 1, true)) then
      local live, gone = Pending.live(call, value)
      local kept, changed = {}, #gone
      for _, entry in ipairs(live) do
        local is_meant = act ~= 'FORGET'
          and entry.work_branch == work_branch
          and (branch == '' or entry.branch == branch)
          and (commit == '' or entry.agent_head == commit)
        if is_meant and act == 'END' and commit == '' and entry.timestamp > tonumber(detail) then
          is_meant = false
          is_any_later = true
        end
        if is_meant and act == 'END' then
          gone[#gone + 1] = entry
          changed = changed + 1
        else
          if is_meant and act == 'INTERFACES' then
            entry.interface_differs, noted[#noted + 1] = differs[path], entry.user_id .. '\t' .. path
            changed = changed + 1
          elseif is_meant and entry.pull_request ~= tonumber(detail) then
            entry.pull_request = tonumber(detail)
            changed = changed + 1
          end
          kept[#kept + 1] = entry
          is_any_left = is_any_left or entry.branch == branch
        end
      end
      if changed > 0 then
        Pending.store(call, path, kept, {}, gone)
        count = count + changed
      end
    end
  end

  -- The number is kept for changes that are given back later, as long as the pull request is open.
  local MOST_NUMBERS = 1000
  local open = '\n' .. branch .. '\n' .. work_branch
  if act == 'NUMBER' and redis.call('HLEN', call.keys.pending) < 20000 + MOST_NUMBERS then
    redis.call('HSET', call.keys.pending, open, detail)
  elseif act == 'END' and commit == '' and not is_any_later then
    redis.call('HDEL', call.keys.pending, open)
  elseif act == 'INTERFACES' then
    Pending.note_interfaces(call, branch, noted)
  elseif act == 'FORGET' and not is_any_left then
    redis.call('HDEL', call.keys.pending, Pending.interfaces_field(branch))
    redis.call('HDEL', call.keys.graph, 'pending')
  end
  return { 'SETTLED', call.now, count }
end
