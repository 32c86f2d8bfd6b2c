-- announce_interface_changes: announces interfaces that changed although their writer was to keep them, and adds a notice to the locks on
-- neighbors, for their holders. It follows a release that was counted, and counts nothing.
-- KEYS, ARGV: those of admission/request, with `changes`: the `path` of a file and the `names` that changed
-- Returns { TOLD, now, answer }: `count` of locks with a new notice
local Adjacency = require('builds/adjacency')
local Answer = require('answer')
local Clock = require('clock')
local Emit = require('events/emit')
local Entries = require('locks/entries')
local Held = require('locks/held')
local LockChanges = require('locks/changes')
local Neighbors = require('locks/neighbors')
local Notices = require('locks/notices')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = Request.begin(KEYS, ARGV)
  Adjacency.begin(call)
  Clock.begin(call)
  Entries.begin(call)
  Held.begin(call)

  -- Reads the locks on these files, each file once, until one script may read no more.
  local is_full = false
  local function load_new(paths)
    local new = {}
    for _, path in ipairs(is_full and {} or paths) do
      new[#new + 1] = not call.entries_of[path] and path or nil
    end
    is_full = is_full or not Entries.load(call, new, Entries.MAX_AT_ONCE)
  end

  -- File path -> others' locks on it; and, once these have notices, file path -> the most bytes that one of them still has room for.
  local locks_on, room_on = {}, {}
  local function others_locks_on(path)
    local locks = {}
    for _, entry in ipairs(call.entries_of[path] or {}) do
      if entry.branch == call.request.branch and not Request.is_own(call, entry) then
        locks[#locks + 1] = entry
      end
    end
    return locks
  end

  -- Adds the line to the notices of the locks on the file; returns how many locks got it. With hundreds of lines for thousands of locks,
  -- most locks are full, and many have the same notices. `extended`: notices -> the same with the line, or false.
  local function add_notice(path, line, extended)
    locks_on[path] = locks_on[path] or others_locks_on(path)
    if #locks_on[path] == 0 or #line > (room_on[path] or #line) then
      return 0
    end
    local count, room = 0, 0
    for _, entry in ipairs(locks_on[path]) do
      local notices = entry.notices or ''
      if extended[notices] == nil then
        extended[notices] = Notices.with_line(notices, line)
      end
      if extended[notices] then
        notices, count = extended[notices], count + 1
        entry.notices, call.is_changed[path] = notices, true
      end
      room = math.max(room, Notices.bytes_left(notices))
    end
    room_on[path] = room
    return count
  end

  local total = 0
  for _, change in ipairs(call.request.changes) do
    local file, names, lock_count = change.path, change.names, 0
    local neighbors = Neighbors.find(call, { file }, 0) or {}
    load_new(neighbors)
    local line, extended = Notices.notice_line(file, call.request.user_id, Emit.names_of(names) or {}), {}
    for _, path in ipairs(neighbors) do
      lock_count = lock_count + add_notice(path, line, extended)
    end
    total = total + lock_count
    Emit.event(call, {
      type = 'interface_changed',
      user = call.request.user_id,
      user_name = call.request.user_name,
      agent_id = call.request.agent_id ~= '' and call.request.agent_id or nil,
      branch = call.request.branch,
      files = Emit.names_of({ file }),
      file_count = 1,
      names = Emit.names_of(names),
      told = lock_count,
      time_ms = call.now_ms,
    })
  end
  LockChanges.save(call)
  return Answer.reply(call, 'TOLD', { count = total })
end
