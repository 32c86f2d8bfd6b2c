-- settle_pending: ends pending changes (locks/pending), or notes the number of their pull request, or the differences in their interfaces.
-- KEYS: `pending`, `graph` of the branch
-- ARGV: that of admission/request, with `branch`, absent for all, `work_branch`, `commit` that they were pushed as, absent for any, `act`:
-- END, NUMBER, INTERFACES, or FORGET: of the branch, those that are over, `number` with NUMBER, `differs` with INTERFACES: file -> differences, `at`
-- with END of any commit: the time of the delivery, which may be late or repeated: changes that were released after it stay,
-- and `paths`, none for all
-- Returns { SETTLED, now, answer }: `count` of changes that were ended or changed
local Answer = require('answer')
local Clock = require('clock')
local Pending = require('locks/pending')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  Clock.begin(call)
  local request = call.request
  local branch, work_branch, act, number = request.branch or '', request.work_branch, request.act, request.number
  local paths, values = request.paths, {}

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

  local noted, count, is_any_left, is_any_later = {}, 0, false, false
  for place, path in ipairs(paths) do
    local value = values[place]
    if value and (act == 'FORGET' or Pending.may_be_on(value, work_branch)) then
      local live, gone = Pending.live(call, value)
      local kept, changed = {}, #gone
      for _, entry in ipairs(live) do
        local is_meant = act ~= 'FORGET'
          and entry.work_branch == work_branch
          and (branch == '' or entry.branch == branch)
          and (not request.commit or entry.agent_head == request.commit)
        if is_meant and act == 'END' and request.at and entry.timestamp > request.at then
          is_meant = false
          is_any_later = true
        end
        if is_meant and act == 'END' then
          gone[#gone + 1] = entry
          changed = changed + 1
        else
          if is_meant and act == 'INTERFACES' then
            entry.interface_differs, noted[#noted + 1] = request.differs[path], entry.user_id .. '\t' .. path
            changed = changed + 1
          elseif is_meant and entry.pull_request ~= number then
            entry.pull_request = number
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

  -- The number is kept for changes that are released later, as long as the pull request is open.
  local MOST_NUMBERS = 1000
  local open = '\n' .. branch .. '\n' .. work_branch
  if act == 'NUMBER' and redis.call('HLEN', call.keys.pending) < 20000 + MOST_NUMBERS then
    redis.call('HSET', call.keys.pending, open, string.format('%.0f', number))
  elseif act == 'END' and request.at and not is_any_later then
    redis.call('HDEL', call.keys.pending, open)
  elseif act == 'INTERFACES' then
    Pending.note_interfaces(call, branch, noted)
  elseif act == 'FORGET' and not is_any_left then
    redis.call('HDEL', call.keys.pending, Pending.interfaces_field(branch))
    redis.call('HDEL', call.keys.graph, 'pending')
  end
  return Answer.reply(call, 'SETTLED', { count = count })
end
