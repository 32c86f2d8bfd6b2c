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

-- Records in `effect` (see Cascade.unblock) that a task has become ready. Returns its score in the queue, or nil if next_task does not look
-- at it. Searches the text, because decoding thousands would take too long. No title can contain these: its quotes are escaped.
local function note_unblocked(call, effect, id, task)
  effect.unblocked[#effect.unblocked + 1] = id
  local owner, assignee = string.match(task, '"owner":"([^"]*)"'), string.match(task, '"assignee":"([^"]*)"')
  local is_live = owner and tonumber(string.match(task, '"expires":(%d+)')) > call.now_ms
  for _, handle in ipairs({ is_live and owner or assignee, assignee }) do
    local ids = effect.ids_of[handle]
    if not ids then
      ids = {}
      effect.ids_of[handle] = ids
      effect.handles[#effect.handles + 1] = handle
    end
    if ids[#ids] ~= id then
      table.insert(ids, id)
    end
  end
  local lapses = tonumber(string.match(task, '"lapses":(%d+)') or 0)
  if not owner and lapses < Task.MAX_EXPIRIES then
    local priority, number = string.match(task, '"priority":"(%a+)"'), string.match(task, '"number":(%d+)')
    return string.format('%.0f', Task.RANKS[priority] * 1e10 + number)
  end
end

-- Removes one unmet dependency from each of `dependents` from `first` to `last`.
local function lower_unmet(call, effect, dependents, first, last)
  local counts = redis.call('HMGET', call.keys.unmet, unpack(dependents, first, last))
  local tasks = redis.call('HMGET', call.keys.tasks, unpack(dependents, first, last))
  local lowered, met, ready = {}, {}, {}
  for index = first, last do
    local id, task = dependents[index], tasks[index - first + 1]
    local count = tonumber(counts[index - first + 1] or 0) - 1
    if count > 0 then
      lowered[#lowered + 1] = id
      lowered[#lowered + 1] = count
    elseif task then
      met[#met + 1] = id
      local score = not string.find(task, '"status":"completed"', 1, true) and note_unblocked(call, effect, id, task)
      if score then
        ready[#ready + 1] = score
        ready[#ready + 1] = id
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

local function emit_unblocked(call, id, unblocked)
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
end

-- Whether the inbox has no room for a message from Coord.
local function has_no_room(call, handle, marks)
  return Deliver.is_full(marks, Deliver.MAX_UNREAD_FROM_COORD) or Deliver.has_sent_share(call, handle, marks, Deliver.MAX_UNREAD_FROM_COORD)
end

-- The message to a member about the tasks that were unblocked.
local function message_about(handle, ids, words)
  local MAX_SHOWN = 20
  local shown = table.concat(ids, ', ', 1, math.min(#ids, MAX_SHOWN))
  local more = #ids > MAX_SHOWN and ' and ' .. #ids - MAX_SHOWN .. ' more' or ''
  return {
    handles = { handle },
    to = handle,
    kind = 'plain',
    task_id = ids[1],
    message = words .. ': ' .. shown .. more,
  }
end

-- Sends a message to each owner and assignee. Returns the handles that were not notified.
local function notify_all(call, effect, words)
  local fields, marks, messages, not_notified, bytes = {}, Deliver.marks_of_all(call, effect.handles), {}, {}, 0
  for index, handle in ipairs(effect.handles) do
    fields[index] = '=' .. string.lower(handle)
  end
  for index, record in ipairs(redis.call('HMGET', call.keys.team, unpack(fields))) do
    local handle = effect.handles[index]
    if record and has_no_room(call, handle, marks[handle]) then
      not_notified[#not_notified + 1] = handle
    elseif record then
      local message = message_about(handle, effect.ids_of[handle], words)
      messages[#messages + 1] = message
      bytes = bytes + Deliver.bytes_of(message, 1)
    end
  end
  if TeamBytes.exceeded_limit(call, 'mail', bytes) then
    for _, message in ipairs(messages) do
      not_notified[#not_notified + 1] = message.to
    end
  elseif #messages > 0 then
    Deliver.deliver_all(call, messages, marks)
  end
  return not_notified
end

-- Removes one unmet dependency from each of `dependents`. Tasks that become ready enter the queue; their owners and assignees get a message
-- that begins with `words`. Returns `count`: how many became ready, and `not_told`: the handles that were not notified because their
-- inboxes are full, absent for none.
function Cascade.unblock(call, id, dependents, words)
  local AT_ONCE = 3000
  -- `unblocked`: the tasks that became ready; `handles`: owners and assignees to notify; `ids_of`: handle -> the tasks of its message
  local effect = { unblocked = {}, handles = {}, ids_of = {} }
  for first = 1, #dependents, AT_ONCE do
    lower_unmet(call, effect, dependents, first, math.min(first + AT_ONCE - 1, #dependents))
  end
  -- Unblocking this many dependents costs as much as one request.
  local DEPENDENTS_OF_A_REQUEST = 200
  if #dependents >= DEPENDENTS_OF_A_REQUEST then
    Limits.count(call, 'WORK', nil, math.floor(#dependents / DEPENDENTS_OF_A_REQUEST))
  end
  local count = #effect.unblocked
  if count > 0 then
    emit_unblocked(call, id, effect.unblocked)
  end
  local not_notified = #effect.handles > 0 and notify_all(call, effect, words) or {}
  return { count = count, not_told = Answer.some(not_notified) }
end

return Cascade
