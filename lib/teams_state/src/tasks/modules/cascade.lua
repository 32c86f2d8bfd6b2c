-- The effect on dependents when a task is completed or deleted.
local Answer = require('answer')
local Deliver = require('mail/deliver')
local Emit = require('events/emit')
local Limits = require('admission/limits')
local Task = require('tasks/task')
local Team = require('teams/team')
local TeamBytes = require('teams/bytes')

local Cascade = {}

-- Notifies a member; false if its inbox has no room.
function Cascade.notify_member(call, handle, task_id, text)
  if not Team.load_member(call, handle) then
    return true
  end
  return Deliver.deliver(
    call,
    { handle },
    { to = handle, kind = 'plain', task_id = task_id, message = text },
    Deliver.MAX_UNREAD_FROM_COORD
  ) ~= nil
end

-- Removes one unmet dependency from each of `dependents`. Tasks that become ready enter the queue; their owners and assignees get a message
-- that begins with `words`. Returns `count`: how many became ready, and `not_told`: the handles that were not notified because their
-- inboxes are full, absent for none.
function Cascade.unblock(call, id, dependents, words)
  local AT_ONCE = 3000
  local unblocked, ids_of, handles = {}, {}, {} -- `ids_of`: handle -> the unblocked tasks of its message
  for first = 1, #dependents, AT_ONCE do
    local last = math.min(first + AT_ONCE - 1, #dependents)
    local counts = redis.call('HMGET', call.keys.unmet, unpack(dependents, first, last))
    local tasks = redis.call('HMGET', call.keys.tasks, unpack(dependents, first, last))
    local lowered, met, ready = {}, {}, {}
    for index = first, last do
      local other, task = dependents[index], tasks[index - first + 1]
      local count = tonumber(counts[index - first + 1] or 0) - 1
      if count > 0 then
        lowered[#lowered + 1] = other
        lowered[#lowered + 1] = count
      elseif task then
        met[#met + 1] = other
        -- Searches the text, because decoding thousands would take too long. No title can contain these: its quotes are escaped.
        if not string.find(task, '"status":"completed"', 1, true) then
          unblocked[#unblocked + 1] = other
          local owner = string.match(task, '"owner":"([^"]*)"')
          local assignee = string.match(task, '"assignee":"([^"]*)"')
          local lapses = tonumber(string.match(task, '"lapses":(%d+)') or 0)
          if not owner and lapses < Task.MAX_EXPIRIES then
            local priority, number = string.match(task, '"priority":"(%a+)"'), string.match(task, '"number":(%d+)')
            ready[#ready + 1] = string.format('%.0f', Task.RANKS[priority] * 1e10 + number)
            ready[#ready + 1] = other
          end
          local is_live = owner and tonumber(string.match(task, '"expires":(%d+)')) > call.now_ms
          for _, handle in ipairs({ is_live and owner or assignee, assignee }) do
            if not ids_of[handle] then
              ids_of[handle] = {}
              handles[#handles + 1] = handle
            end
            if ids_of[handle][#ids_of[handle]] ~= other then
              table.insert(ids_of[handle], other)
            end
          end
        end
      end
    end
    if #lowered > 0 then
      redis.call('HSET', call.keys.unmet, unpack(lowered))
    end
    if #met > 0 then
      redis.call('HDEL', call.keys.unmet, unpack(met))
    end
    if #ready > 0 then
      redis.call('ZADD', call.keys.ready, unpack(ready))
    end
  end
  -- Unblocking this many dependents costs as much as one request.
  local DEPENDENTS_OF_A_REQUEST = 200
  if #dependents >= DEPENDENTS_OF_A_REQUEST then
    Limits.count(call, 'WORK', nil, math.floor(#dependents / DEPENDENTS_OF_A_REQUEST))
  end
  if #unblocked == 0 then
    return { count = 0 }
  end
  local MAX_NAMED, MAX_NAMED_BYTES = 100, 4096
  local named, bytes = {}, 0
  for index = 1, math.min(#unblocked, MAX_NAMED) do
    bytes = bytes + #unblocked[index]
    if bytes > MAX_NAMED_BYTES then
      break
    end
    named[index] = unblocked[index]
  end
  Emit.event(call, {
    type = 'task_unblocked',
    team = call.team.name,
    task = id,
    tasks = named,
    task_count = #unblocked,
  }, call.request.user_id)
  if #handles == 0 then
    return { count = #unblocked }
  end
  local MAX_SHOWN = 20
  local fields, marks, messages, not_notified = {}, Deliver.marks_of_all(call, handles), {}, {}
  for index, handle in ipairs(handles) do
    fields[index] = '=' .. string.lower(handle)
  end
  for index, record in ipairs(redis.call('HMGET', call.keys.team, unpack(fields))) do
    local handle = handles[index]
    local ids = ids_of[handle]
    if
      record
      and (
        Deliver.is_full(marks[handle], Deliver.MAX_UNREAD_FROM_COORD)
        or Deliver.has_sent_share(call, handle, marks[handle], Deliver.MAX_UNREAD_FROM_COORD)
      )
    then
      not_notified[#not_notified + 1] = handle
    elseif record then
      local shown = table.concat(ids, ', ', 1, math.min(#ids, MAX_SHOWN))
      local more = #ids > MAX_SHOWN and ' and ' .. #ids - MAX_SHOWN .. ' more' or ''
      messages[#messages + 1] = {
        handles = { handle },
        to = handle,
        kind = 'plain',
        task_id = ids[1],
        message = words .. ': ' .. shown .. more,
      }
    end
  end
  bytes = 0
  for _, message in ipairs(messages) do
    bytes = bytes + Deliver.bytes_of(message, 1)
  end
  if TeamBytes.exceeded_limit(call, 'mail', bytes) then
    for _, message in ipairs(messages) do
      not_notified[#not_notified + 1] = message.to
    end
  elseif #messages > 0 then
    Deliver.deliver_all(call, messages, marks)
  end
  return { count = #unblocked, not_told = Answer.some(not_notified) }
end

return Cascade
