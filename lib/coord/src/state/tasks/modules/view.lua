-- Tasks as they are read.
local Edges = require('tasks/edges')

local View = {}

-- Each of the tasks as { id, JSON, what it waits for, what it has depended on that is completed, what waits for it, up to 1,000, how
-- many that are, the time (Unix milliseconds) }, ids separated by blanks. `ids` and `stored` are lists of the same length.
function View.views_of(call, ids, stored)
  local MOST_BLOCKED = 1000
  local views, wanted, is_wanted, time = {}, {}, {}, string.format('%.0f', call.now_ms)
  local dependencies, is_over = {}, {}
  for index, id in ipairs(ids) do
    dependencies[index], is_over[index] = Edges.ends_of(call, 'd', id)
    for _, other in ipairs(dependencies[index]) do
      if not is_wanted[other] then
        is_wanted[other] = true
        wanted[#wanted + 1] = other
      end
    end
  end
  local completed = Edges.statuses(call, wanted)
  for index, id in ipairs(ids) do
    local open, met = {}, {}
    for _, other in ipairs(dependencies[index]) do
      if completed[other] then
        met[#met + 1] = other
      elseif not is_over[index] then
        open[#open + 1] = other
      end
    end
    local blocks, is_completed = Edges.ends_of(call, 'b', id, MOST_BLOCKED)
    local count = #blocks < MOST_BLOCKED - 1 and #blocks or Edges.count_of_ends(call, 'b', id, is_completed)
    views[index] = { id, stored[index], table.concat(open, ' '), table.concat(met, ' '), table.concat(blocks, ' '), count, time }
  end
  return views
end

-- The same of one task, then description, notes and result, the results of what it depends on: list of id, 'HANDLE LOGIN' of who
-- completed it or '', result, ...; and, since these are of 128 KiB at most, the ids of the others that have a result.
function View.whole_view(call, id, task)
  local MOST_BYTES = 131072
  local view = View.views_of(call, { id }, { cjson.encode(task) })[1]
  local texts, results, bytes = redis.call('HMGET', call.keys.texts, id, id .. ' notes', id .. ' result'), {}, 0
  local authors, left_out = {}, {}
  for other in string.gmatch(view[4], '%S+') do
    local result = redis.call(bytes > MOST_BYTES and 'HEXISTS' or 'HGET', call.keys.texts, other .. ' result')
    if bytes <= MOST_BYTES then
      bytes = bytes + #(result or '')
    end
    if result and result ~= 0 and bytes > MOST_BYTES then
      left_out[#left_out + 1] = other
    elseif result and result ~= 0 then
      results[#results + 1] = other
      results[#results + 1] = ''
      results[#results + 1] = result
      authors[#authors + 1] = other .. ' author'
    end
  end
  for index, author in ipairs(#authors > 0 and redis.call('HMGET', call.keys.texts, unpack(authors)) or {}) do
    results[3 * index - 1] = author or ''
  end
  for index = 1, 3 do
    view[#view + 1] = texts[index] or ''
  end
  view[#view + 1] = results
  view[#view + 1] = left_out
  return view
end

return View
