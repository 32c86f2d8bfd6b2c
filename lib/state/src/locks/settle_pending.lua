-- settle_pending: ends pending changes (locks/pending), or records the number of their pull request, or the differences in their interfaces.
-- KEYS: `pending`, `graph` of the branch
-- ARGV: that of admission/request, with `branch`, absent for all, `work_branch`, `commit` that they were pushed as, absent for any, `act`:
-- END, NUMBER, INTERFACES, or FORGET: the expired ones of the branch, `number` with NUMBER, `differs` with INTERFACES: file -> differences,
-- `at` with END of any commit: the time of the delivery, which may be late or repeated: changes that were released after it stay,
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

  local interface_lines, count, is_any_left, is_any_later = {}, 0, false, false
  for index, path in ipairs(paths) do
    local value = values[index]
    if value and (act == 'FORGET' or Pending.may_be_on(value, work_branch)) then
      local live, removed = Pending.parse(call, value)
      local kept, changed = {}, #removed
      for _, entry in ipairs(live) do
        local is_selected = act ~= 'FORGET'
          and entry.work_branch == work_branch
          and (branch == '' or entry.branch == branch)
          and (not request.commit or entry.agent_head == request.commit)
        if is_selected and act == 'END' and request.at and entry.timestamp > request.at then
          is_selected = false
          is_any_later = true
        end
        if is_selected and act == 'END' then
          removed[#removed + 1] = entry
          changed = changed + 1
        else
          if is_selected and act == 'INTERFACES' then
            entry.interface_differs, interface_lines[#interface_lines + 1] = request.differs[path], entry.user_id .. '\t' .. path
            changed = changed + 1
          elseif is_selected and entry.pull_request ~= number then
            entry.pull_request = number
            changed = changed + 1
          end
          kept[#kept + 1] = entry
          is_any_left = is_any_left or entry.branch == branch
        end
      end
      if changed > 0 then
        Pending.store(call, path, kept, {}, removed)
        count = count + changed
      end
    end
  end

  -- The number is kept for changes that are released later, as long as the pull request is open.
  local MAX_NUMBERS = 1000
  local number_field = '\n' .. branch .. '\n' .. work_branch
  if act == 'NUMBER' and redis.call('HLEN', call.keys.pending) < 20000 + MAX_NUMBERS then
    redis.call('HSET', call.keys.pending, number_field, string.format('%.0f', number))
  elseif act == 'END' and request.at and not is_any_later then
    redis.call('HDEL', call.keys.pending, number_field)
  elseif act == 'INTERFACES' then
    Pending.note_interfaces(call, branch, interface_lines)
  elseif act == 'FORGET' and not is_any_left then
    redis.call('HDEL', call.keys.pending, Pending.interfaces_field(branch))
    redis.call('HDEL', call.keys.graph, 'pending')
  end
  return Answer.reply(call, 'SETTLED', { count = count })
end
