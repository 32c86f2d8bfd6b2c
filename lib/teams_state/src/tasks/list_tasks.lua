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

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)

  local denial = Admission.admit(call) or Team.load_team(call)
  if denial then
    return denial
  end
  -- How much one run looks at and returns: two milliseconds of the store, after which other requests run. Each run counts as a request.
  local MAX_LOOKED_AT, MAX_BYTES_LOOKED_AT, AT_ONCE, MAX_VIEWED = 500, 262144, 50, 250
  local MAX_BYTES, VIEWED_AT_ONCE = 131072, 20
  local request = call.request
  local status, owner, readiness, text, file = request.status, request.owner, request.readiness, request.text, request.file
  local most = math.min(request.most, MAX_VIEWED)

  local function is_about_file(task)
    for _, path in ipairs(task.files or {}) do
      if path == file then
        return true
      end
    end
    return false
  end

  local function passes(task, unmet)
    local is_free = task.status ~= 'completed' and not Task.is_held(call, task)
    if status and task.status ~= status then
      return false
    elseif
      owner and not (task.owner and string.lower(task.owner) == owner and (task.status == 'completed' or Task.is_held(call, task)))
    then
      return false
    elseif readiness == 'READY' and not (is_free and unmet == 0 and (task.lapses or 0) + (task.owner and 1 or 0) < Task.MAX_EXPIRIES) then
      return false
    elseif readiness == 'UNCLAIMED' and not is_free then
      return false
    elseif readiness == 'BLOCKED' and (unmet == 0 or task.status == 'completed') then
      return false
    end
    if file and not is_about_file(task) then
      return false
    end
    return not text or string.find(string.lower(task.title), text, 1, true) ~= nil
  end

  -- Texts that a matching task contains; decoding all tasks takes several times as long. Quotes in a text are escaped.
  local status_text = status and '"status":"' .. status .. '"'
  local file_text = file and cjson.encode(file)
  local owner_text = owner and '"owner":"' .. owner .. '"'
  local title_text = text and string.lower(string.sub(cjson.encode(text), 2, -2))

  local function may_pass(task)
    if status_text and not string.find(task, status_text, 1, true) or file_text and not string.find(task, file_text, 1, true) then
      return false
    end
    local lower = (owner_text or title_text) and string.lower(task)
    return not (owner_text and not string.find(lower, owner_text, 1, true) or title_text and not string.find(lower, title_text, 1, true))
  end

  local ids, stored, numbers, looked_at, bytes, last, is_end, is_full = {}, {}, {}, 0, 0, string.format('%.0f', request.after), false, false
  while not is_end and not is_full do
    local page = redis.call('ZRANGEBYSCORE', call.keys.order, '(' .. last, '+inf', 'LIMIT', 0, AT_ONCE)
    local tasks = #page > 0 and redis.call('HMGET', call.keys.tasks, unpack(page)) or {}
    local unmet = #page > 0 and readiness and redis.call('HMGET', call.keys.unmet, unpack(page)) or {}
    is_end = #page < AT_ONCE
    for index, id in ipairs(page) do
      looked_at, bytes = looked_at + 1, bytes + #tasks[index]
      local task = may_pass(tasks[index]) and cjson.decode(tasks[index])
      if task and passes(task, tonumber(unmet[index] or 0)) then
        ids[#ids + 1], stored[#stored + 1], numbers[#numbers + 1] = id, tasks[index], task.number
      end
      is_full = #ids == most or looked_at >= MAX_LOOKED_AT or bytes >= MAX_BYTES_LOOKED_AT
      if is_full or index == #page then
        last = string.match(tasks[index], '"number":(%d+)')
      end
      if is_full then
        is_end = is_end and index == #page
        break
      end
    end
  end

  -- As many views as the answer has room for, and at least one.
  local views, descriptions, answer_bytes = {}, {}, 0
  local function answer(next_number)
    return Team.reply(call, 'LISTED', {
      next = next_number,
      tasks = Answer.some(views),
      descriptions = next(descriptions) and descriptions,
    })
  end
  for first = 1, #ids, VIEWED_AT_ONCE do
    local rest = math.min(first + VIEWED_AT_ONCE - 1, #ids)
    local page = { unpack(ids, first, rest) }
    local texts = request.has_descriptions and redis.call('HMGET', call.keys.texts, unpack(page)) or {}
    for offset, view in ipairs(View.views_of(call, page, { unpack(stored, first, rest) })) do
      answer_bytes = answer_bytes + View.bytes_of(view) + #(texts[offset] or '')
      if answer_bytes > MAX_BYTES and #views > 0 then
        return answer(numbers[first + offset - 2])
      end
      views[#views + 1], descriptions[view.id] = view, texts[offset] or nil
    end
  end
  return answer(not is_end and tonumber(last) or nil)
end
