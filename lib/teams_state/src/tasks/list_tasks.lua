-- list_tasks: tasks in the order of their creation, without notes and results.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team, `after`: the number after which the list continues, `most` tasks, and `has_descriptions`: read
-- descriptions too; and filters, absent for none: `status`, `owner` in lower case, `readiness`: READY, BLOCKED or UNCLAIMED, `text`: part of
-- the title in lower case, and `file`.
-- Returns Team.reply(): LISTED, `next`: the number to continue after, absent at the end, `tasks` as View.views_of() has them, and
-- `descriptions`: id -> text, each absent for none; or REFUSED; or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Answer = require('answer')
local Task = require('tasks/task')
local Team = require('teams/team')
local View = require('tasks/view')

local function is_about_file(task, file)
  for _, path in ipairs(task.files or {}) do
    if path == file then
      return true
    end
  end
  return false
end

-- Whether the task passes the filters. `unmet`: its number of unmet dependencies, if the request asks for its readiness.
local function passes(call, task, unmet)
  local status, owner, readiness, text, file =
    call.request.status, call.request.owner, call.request.readiness, call.request.text, call.request.file
  local is_free = task.status ~= 'completed' and not Task.is_held(call, task)
  if status and task.status ~= status then
    return false
  elseif owner and not (task.owner and string.lower(task.owner) == owner and (task.status == 'completed' or Task.is_held(call, task))) then
    return false
  elseif readiness == 'READY' and not (is_free and unmet == 0 and (task.lapses or 0) + (task.owner and 1 or 0) < Task.MAX_EXPIRIES) then
    return false
  elseif readiness == 'UNCLAIMED' and not is_free then
    return false
  elseif readiness == 'BLOCKED' and (unmet == 0 or task.status == 'completed') then
    return false
  end
  if file and not is_about_file(task, file) then
    return false
  end
  return not text or string.find(string.lower(task.title), text, 1, true) ~= nil
end

-- Texts that a matching task contains; decoding all tasks takes several times as long. Quotes in a text are escaped. `owner` and `title` are
-- in lower case.
local function texts_of(request)
  return {
    status = request.status and '"status":"' .. request.status .. '"',
    file = request.file and cjson.encode(request.file),
    owner = request.owner and '"owner":"' .. request.owner .. '"',
    title = request.text and string.lower(string.sub(cjson.encode(request.text), 2, -2)),
  }
end

-- Whether the task, as JSON, may pass the filters.
local function may_pass(texts, task)
  if texts.status and not string.find(task, texts.status, 1, true) or texts.file and not string.find(task, texts.file, 1, true) then
    return false
  end
  local lower = (texts.owner or texts.title) and string.lower(task)
  return not (texts.owner and not string.find(lower, texts.owner, 1, true) or texts.title and not string.find(lower, texts.title, 1, true))
end

-- The next tasks that pass the filters: lists of `ids`, of tasks as JSON, `stored`, and of `numbers`; and `next`: the number to continue
-- after, nil at the end.
local function find_tasks(call)
  -- How much one run looks at and returns: two milliseconds of the store, after which other requests run. Each run counts as a request.
  local MAX_LOOKED_AT, MAX_BYTES_LOOKED_AT, AT_ONCE, MAX_VIEWED = 500, 262144, 50, 250
  local request, texts = call.request, texts_of(call.request)
  local most, found, looked_at, bytes = math.min(request.most, MAX_VIEWED), { ids = {}, stored = {}, numbers = {} }, 0, 0
  local last, is_end, is_full = string.format('%.0f', request.after), false, false
  while not is_end and not is_full do
    local page = redis.call('ZRANGEBYSCORE', call.keys.order, '(' .. last, '+inf', 'LIMIT', 0, AT_ONCE)
    local tasks = #page > 0 and redis.call('HMGET', call.keys.tasks, unpack(page)) or {}
    local unmet = #page > 0 and request.readiness and redis.call('HMGET', call.keys.unmet, unpack(page)) or {}
    is_end = #page < AT_ONCE
    for index, id in ipairs(page) do
      looked_at, bytes = looked_at + 1, bytes + #tasks[index]
      local task = may_pass(texts, tasks[index]) and cjson.decode(tasks[index])
      if task and passes(call, task, tonumber(unmet[index] or 0)) then
        local count = #found.ids + 1
        found.ids[count], found.stored[count], found.numbers[count] = id, tasks[index], task.number
      end
      is_full = #found.ids == most or looked_at >= MAX_LOOKED_AT or bytes >= MAX_BYTES_LOOKED_AT
      if is_full or index == #page then
        last = string.match(tasks[index], '"number":(%d+)')
      end
      if is_full then
        is_end = is_end and index == #page
        break
      end
    end
  end
  found.next = not is_end and tonumber(last) or nil
  return found
end

-- As many views of the found tasks as the answer has room for, and at least one; and descriptions of these, by id.
local function view_tasks(call, found)
  local MAX_BYTES, VIEWED_AT_ONCE = 131072, 20
  local views, descriptions, bytes = {}, {}, 0
  for first = 1, #found.ids, VIEWED_AT_ONCE do
    local last = math.min(first + VIEWED_AT_ONCE - 1, #found.ids)
    local page = { unpack(found.ids, first, last) }
    local texts = call.request.has_descriptions and redis.call('HMGET', call.keys.texts, unpack(page)) or {}
    for offset, view in ipairs(View.views_of(call, page, { unpack(found.stored, first, last) })) do
      bytes = bytes + View.bytes_of(view) + #(texts[offset] or '')
      if bytes > MAX_BYTES and #views > 0 then
        return views, descriptions
      end
      views[#views + 1], descriptions[view.id] = view, texts[offset] or nil
    end
  end
  return views, descriptions
end

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)

  local denial = Admission.admit(call) or Team.load_team(call)
  if denial then
    return denial
  end
  local found = find_tasks(call)
  local views, descriptions = view_tasks(call, found)
  local next_number = found.next
  if #views < #found.ids then
    next_number = found.numbers[#views]
  end
  return Team.reply(call, 'LISTED', {
    next = next_number,
    tasks = Answer.some(views),
    descriptions = next(descriptions) and descriptions,
  })
end
