-- Views of tasks, for readers.
local Answer = require('answer')
local Edges = require('tasks/edges')

local View = {}

-- A view of each task: `id`, `task` as JSON, `dependencies`: the open ones, `met_dependencies`: the completed ones, `blocks`: tasks that
-- wait for it, up to 1,000, `block_count`: their number, and `read_at`, the time (Unix milliseconds). Lists of ids are absent for none. `ids`
-- and `stored` are lists of the same length.
function View.views_of(call, ids, stored)
  local MAX_BLOCKED = 1000
  local views, named, is_named = {}, {}, {}
  local dependencies, is_completed = {}, {}
  for index, id in ipairs(ids) do
    dependencies[index], is_completed[index] = Edges.ends_of(call, 'd', id)
    for _, other in ipairs(dependencies[index]) do
      if not is_named[other] then
        is_named[other] = true
        named[#named + 1] = other
      end
    end
  end
  local completed = Edges.statuses(call, named)
  for index, id in ipairs(ids) do
    local open, met = {}, {}
    for _, other in ipairs(dependencies[index]) do
      if completed[other] then
        met[#met + 1] = other
      elseif not is_completed[index] then
        open[#open + 1] = other
      end
    end
    local blocks, has_mark = Edges.ends_of(call, 'b', id, MAX_BLOCKED)
    local count = #blocks < MAX_BLOCKED - 1 and #blocks or Edges.count_of_ends(call, 'b', id, has_mark)
    views[index] = {
      id = id,
      task = stored[index],
      dependencies = Answer.some(open),
      met_dependencies = Answer.some(met),
      blocks = Answer.some(blocks),
      block_count = count,
      read_at = call.now_ms,
    }
  end
  return views
end

-- The number of bytes in the texts of a view.
function View.bytes_of(view)
  local bytes = #view.task
  for _, name in ipairs({ 'dependencies', 'met_dependencies', 'blocks' }) do
    bytes = bytes + #table.concat(view[name] or {}, ' ')
  end
  return bytes
end

-- The whole view of one task: `task`, its view, and, absent for none, `description`, `notes`: each as JSON, `result`, `results` of its
-- dependencies, each with `id`, `by` and `login` of the member that completed it, and `result`; these have 128 KiB at most, so
-- `left_out` has the ids of other dependencies with a result.
function View.whole_view(call, id, task)
  local MAX_BYTES = 131072
  local view = View.views_of(call, { id }, { cjson.encode(task) })[1]
  local description, note_lines, own_result = unpack(redis.call('HMGET', call.keys.texts, id, id .. ' notes', id .. ' result'))
  local results, bytes, authors, left_out, notes = {}, 0, {}, {}, {}
  for _, other in ipairs(view.met_dependencies or {}) do
    local result = redis.call(bytes > MAX_BYTES and 'HEXISTS' or 'HGET', call.keys.texts, other .. ' result')
    if bytes <= MAX_BYTES then
      bytes = bytes + #(result or '')
    end
    if result and result ~= 0 and bytes > MAX_BYTES then
      left_out[#left_out + 1] = other
    elseif result and result ~= 0 then
      results[#results + 1] = { id = other, result = result }
      authors[#authors + 1] = other .. ' author'
    end
  end
  for index, author in ipairs(#authors > 0 and redis.call('HMGET', call.keys.texts, unpack(authors)) or {}) do
    results[index].by, results[index].login = string.match(author or '', '^(%S+) (.*)$')
  end
  for line in string.gmatch(note_lines or '', '[^\n]+') do
    notes[#notes + 1] = line
  end
  return {
    task = view,
    description = description or nil,
    notes = Answer.some(notes),
    result = own_result or nil,
    results = Answer.some(results),
    left_out = Answer.some(left_out),
  }
end

return View
