-- Tasks without their texts, JSON. `number` in the order of creation; `title`, `priority`, `status`; `created`, `updated`, `claimed`,
-- `completed` (Unix milliseconds); `by` and `by_login`: handle and login of the creator; `owner`: handle of the claim's holder, and its
-- `login`, `token`, `seconds` and `expires` (Unix milliseconds); `had` and `had_login`: the previous owner; `ended`: LAPSED or RELEASED,
-- if there is no owner any more; `lapses`: how many claims expired; after three, the task is held back; `assignee`, and `reserved`: until
-- when the task is reserved for it (Unix milliseconds); `files`, `branch`, `intent_id`; absent for none; `locked`: the branch on which its
-- files were claimed with it; `dependency_order` and `block_order`: the ids of a request, in its order, if there are several (edges have no
-- order; ids without an edge do not count); `bytes`: '@' and a login -> the bytes that the login has written (modules/bytes.lua). Its
-- dependencies are in keys.edges, and the number of unmet ones in keys.unmet. keys.edges also marks tasks that are held back.
local Emit = require('events/emit')
local Offers = require('tasks/offers')

local Task = {}

local RANKS = { high = 0, normal = 1, low = 2 }
Task.RANKS = RANKS
local MAX_EXPIRIES = 3
Task.MAX_EXPIRIES = MAX_EXPIRIES

function Task.load_task(call, id)
  local stored = redis.call('HGET', call.keys.tasks, id)
  return stored and cjson.decode(stored)
end

function Task.save_task(call, id, task)
  redis.call('HSET', call.keys.tasks, id, cjson.encode(task))
end

-- Whether a claim holds. It ends by the store's clock, whether or not a script has noticed.
function Task.is_held(call, task)
  return task.status == 'in_progress' and task.owner ~= nil and task.expires > call.now_ms
end

function Task.is_owned_by(call, task, member)
  return Task.is_held(call, task) and string.lower(task.owner) == string.lower(member.handle)
end

-- Whether handle and login are those of the member: a member of another login may have joined under a handle that became free.
function Task.is_member(member, handle, login)
  return handle ~= nil and string.lower(handle) == string.lower(member.handle) and login == member.login
end

function Task.is_held_back(task)
  return (task.lapses or 0) >= MAX_EXPIRIES
end

-- Whether the task is reserved for another member.
function Task.is_reserved(call, task, member)
  return task.assignee ~= nil and string.lower(task.assignee) ~= string.lower(member.handle) and (task.reserved or 0) > call.now_ms
end

-- The score of the task in the queue; nil if next_task does not look at it. `unmet` is its number of unmet dependencies.
function Task.queue_score(task, unmet)
  if task.status ~= 'completed' and not task.owner and unmet == 0 and not Task.is_held_back(task) then
    return string.format('%.0f', RANKS[task.priority] * 1e10 + task.number)
  end
end

-- Adds a task to the queue of next_task, or removes it.
function Task.update_queue(call, id, task, unmet)
  local score = Task.queue_score(task, unmet or tonumber(redis.call('HGET', call.keys.unmet, id) or 0))
  if score then
    redis.call('ZADD', call.keys.ready, score, id)
  else
    redis.call('ZREM', call.keys.ready, id)
  end
end

function Task.extend(call, id, task)
  task.expires = call.now_ms + task.seconds * 1000
  redis.call('ZADD', call.keys.leases, string.format('%.0f', task.expires), id)
  redis.call('ZADD', call.keys.lapses, 'LT', math.ceil(task.expires / 1000), call.team_key)
end

function Task.emit_task(call, kind, id, task, handle, login)
  Emit.event(call, {
    type = kind,
    team = call.team.name,
    task = id,
    title = task.title,
    handle = handle,
    user = login,
    token = task.token,
    expiry_ms = task.owner and task.expires or nil,
  })
end

-- Records in the task that its claim has ended, LAPSED or RELEASED; returns handle and login of its owner.
function Task.note_end(call, task, ended)
  local owner, login = task.owner, task.login
  task.had, task.had_login, task.ended, task.owner, task.login = owner, login, ended, nil, nil
  task.updated = call.now_ms
  return owner, login
end

-- Ends a claim: LAPSED or RELEASED. The calling code saves the offers.
function Task.end_one_claim(call, id, task, ended)
  local owner, login = Task.note_end(call, task, ended)
  if ended == 'LAPSED' then
    task.lapses = (task.lapses or 0) + 1
    if task.lapses == MAX_EXPIRIES then
      redis.call('ZADD', call.keys.edges, 0, 'h ' .. id)
    end
  end
  redis.call('ZREM', call.keys.leases, id)
  Task.save_task(call, id, task)
  Task.update_queue(call, id, task)
  Task.emit_task(call, ended == 'LAPSED' and 'task_lapsed' or 'task_released', id, task, owner, login)
end

-- The same for a single claim, with the offers.
function Task.end_claim(call, id, task, ended)
  Task.end_one_claim(call, id, task, ended)
  Offers.save(call)
end

-- Announces up to `most` expired claims, and returns their tasks to the queue.
function Task.settle_lapsed(call, most)
  local ids = redis.call('ZRANGEBYSCORE', call.keys.leases, '-inf', string.format('%.0f', call.now_ms), 'LIMIT', 0, most)
  for _, id in ipairs(ids) do
    local task = Task.load_task(call, id)
    if task and task.owner then
      Task.end_one_claim(call, id, task, 'LAPSED')
    else
      redis.call('ZREM', call.keys.leases, id)
    end
  end
  if #ids > 0 then
    Offers.save(call)
  end
  return #ids
end

-- The task, with its claim ended if that has expired; nil for an unknown task.
function Task.current_task(call, id)
  local task = Task.load_task(call, id)
  if task and task.status == 'in_progress' and task.owner and not Task.is_held(call, task) then
    Task.end_claim(call, id, task, 'LAPSED')
  end
  return task
end

-- Whether `id` is one of the `words`, which blanks separate.
function Task.has_word(words, id)
  return string.find(' ' .. words .. ' ', ' ' .. id .. ' ', 1, true) ~= nil
end

function Task.with_word(words, id)
  return Task.has_word(words, id) and words or words == '' and id or words .. ' ' .. id
end

function Task.without_word(words, id)
  local kept = {}
  for word in string.gmatch(words, '%S+') do
    if word ~= id then
      kept[#kept + 1] = word
    end
  end
  return table.concat(kept, ' ')
end

function Task.count_words(words)
  local _, count = string.gsub(words, '%S+', '')
  return count
end

return Task
