-- Tasks without their texts, JSON. Needs: team.
-- `number` in the order of creation; `title`, `priority`, `status`; `created`, `updated`, `claimed`, `completed` (Unix milliseconds);
-- `by` and `by_login`: handle and login of the creator; `owner`: handle of who holds the claim, and its `login`, `token`, `seconds`
-- and `expires` (Unix milliseconds); `had` and `had_login`: the last owner before; `ended`: LAPSED or RELEASED, where there is no owner
-- any more; `lapses`, how often; three hold it back;
-- `assignee`, and `reserved` for it until then (Unix milliseconds); `files`, `branch`, `intent_id`; absent for none;
-- `locked`: the branch on which its files were claimed with it; `dependency_order` and `block_order`: the ids that a request gave, in its
-- order, where these are several (edges have none; ids without an edge mean nothing); `bytes`: '@' and a login -> what it has written (includes/bytes.lua).
-- What it depends on is in keys.edges, and how many of these are not completed in keys.unmet. What is held back has a mark there.
-- @include events/emit
-- @include tasks/offers

local RANKS = { high = 0, normal = 1, low = 2 }
local MOST_LAPSES = 3

local function load_task(id)
  local stored = redis.call('HGET', keys.tasks, id)
  return stored and cjson.decode(stored)
end

local function save_task(id, task)
  redis.call('HSET', keys.tasks, id, cjson.encode(task))
end

-- Whether a claim holds. It ends by the store's clock, whether or not a script has noticed.
local function is_held(task)
  return task.status == 'in_progress' and task.owner ~= nil and task.expires > now_ms
end

local function is_owned_by(task, who)
  return is_held(task) and string.lower(task.owner) == string.lower(who.handle)
end

-- Whether handle and login are those of the member: a handle that is free again may be another login's now.
local function is_member(who, handle, login)
  return handle ~= nil and string.lower(handle) == string.lower(who.handle) and login == who.login
end

local function is_held_back(task)
  return (task.lapses or 0) >= MOST_LAPSES
end

-- Whether the task is kept for somebody else.
local function is_reserved(task, who)
  return task.assignee ~= nil and string.lower(task.assignee) ~= string.lower(who.handle) and (task.reserved or 0) > now_ms
end

-- Its place in the queue, with this number of dependencies that are not met; nil if `next` does not look at it.
local function place_of(task, unmet)
  if task.status ~= 'completed' and not task.owner and unmet == 0 and not is_held_back(task) then
    return string.format('%.0f', RANKS[task.priority] * 1e10 + task.number)
  end
end

-- Puts a task where `next` looks, or takes it away.
local function queue(id, task, unmet)
  local place = place_of(task, unmet or tonumber(redis.call('HGET', keys.unmet, id) or 0))
  if place then
    redis.call('ZADD', keys.ready, place, id)
  else
    redis.call('ZREM', keys.ready, id)
  end
end

local function extend(id, task)
  task.expires = now_ms + task.seconds * 1000
  redis.call('ZADD', keys.leases, string.format('%.0f', task.expires), id)
  redis.call('ZADD', keys.lapses, 'LT', math.ceil(task.expires / 1000), team_key)
end

local function emit_task(kind, id, task, handle, login)
  emit({
    type = kind, team = team.name, task = id, title = task.title, handle = handle, user = login,
    token = task.token, expiry_ms = task.owner and task.expires or nil,
  })
end

-- Notes in the task that its claim has ended, LAPSED or RELEASED; returns who had it.
local function note_end(task, ended)
  local owner, login = task.owner, task.login
  task.had, task.had_login, task.ended, task.owner, task.login = owner, login, ended, nil, nil
  task.updated = now_ms
  return owner, login
end

-- Ends a claim: LAPSED or RELEASED. The caller saves the offers.
local function end_one_claim(id, task, ended)
  local owner, login = note_end(task, ended)
  if ended == 'LAPSED' then
    task.lapses = (task.lapses or 0) + 1
    if task.lapses == MOST_LAPSES then
      redis.call('ZADD', keys.edges, 0, 'h ' .. id)
    end
  end
  redis.call('ZREM', keys.leases, id)
  save_task(id, task)
  queue(id, task)
  emit_task(ended == 'LAPSED' and 'task_lapsed' or 'task_released', id, task, owner, login)
end

-- The same for a single one.
local function end_claim(id, task, ended)
  end_one_claim(id, task, ended)
  save_offers()
end

-- Announces up to `most` claims that have lapsed, and puts their tasks back.
local function settle_lapsed(most)
  local ids = redis.call('ZRANGEBYSCORE', keys.leases, '-inf', string.format('%.0f', now_ms), 'LIMIT', 0, most)
  for _, id in ipairs(ids) do
    local task = load_task(id)
    if task and task.owner then
      end_one_claim(id, task, 'LAPSED')
    else
      redis.call('ZREM', keys.leases, id)
    end
  end
  if #ids > 0 then
    save_offers()
  end
  return #ids
end

-- The task, once its claim is settled if that has lapsed; nil if there is none.
local function current_task(id)
  local task = load_task(id)
  if task and task.status == 'in_progress' and task.owner and not is_held(task) then
    end_claim(id, task, 'LAPSED')
  end
  return task
end

-- Whether `id` is one of the `words`, which blanks separate.
local function has_word(words, id)
  return string.find(' ' .. words .. ' ', ' ' .. id .. ' ', 1, true) ~= nil
end

local function with_word(words, id)
  return has_word(words, id) and words or words == '' and id or words .. ' ' .. id
end

local function without_word(words, id)
  local kept = {}
  for word in string.gmatch(words, '%S+') do
    if word ~= id then
      kept[#kept + 1] = word
    end
  end
  return table.concat(kept, ' ')
end

local function count_words(words)
  local _, count = string.gsub(words, '%S+', '')
  return count
end
