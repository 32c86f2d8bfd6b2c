-- announce_interface_changes: announces that interfaces changed that a writer was to keep, and leaves it with the locks on neighbors for their
-- holders. It follows a release that was counted, and counts nothing.
-- KEYS, ARGV: those of admission/request, with `changes`: the `path` of a file and the `names` that changed
-- Returns { TOLD, now, answer }: `count` of locks whose holders get the notice
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

  -- Reads the locks on these files, each file once, until there are as many as one script may look at.
  local is_full = false
  local function load_new(paths)
    local new = {}
    for _, path in ipairs(is_full and {} or paths) do
      new[#new + 1] = not call.entries_of[path] and path or nil
    end
    is_full = is_full or not Entries.load(call, new, Entries.MOST_AT_ONCE)
  end

  -- File path -> the others' locks there, and, once they have notices, for how many bytes more one of them has room.
  local to_tell, room = {}, {}
  local function others_on(path)
    local found = {}
    for _, entry in ipairs(call.entries_of[path] or {}) do
      if entry.branch == call.request.branch and not Request.is_own(call, entry) then
        found[#found + 1] = entry
      end
    end
    return found
  end

  -- Leaves the line with the locks on the file; returns with how many. Hundreds of lines for thousands of locks find most of these full,
  -- and many with the same notices. `after`: notices -> with_line() of them.
  local function tell(path, line, after)
    to_tell[path] = to_tell[path] or others_on(path)
    if #to_tell[path] == 0 or #line > (room[path] or #line) then
      return 0
    end
    local notified, most = 0, 0
    for _, entry in ipairs(to_tell[path]) do
      local notices = entry.notices or ''
      if after[notices] == nil then
        after[notices] = Notices.with_line(notices, line)
      end
      if after[notices] then
        notices, notified = after[notices], notified + 1
        entry.notices, call.is_changed[path] = notices, true
      end
      most = math.max(most, Notices.room_behind(notices))
    end
    room[path] = most
    return notified
  end

  local count = 0
  for _, change in ipairs(call.request.changes) do
    local file, names, notified = change.path, change.names, 0
    local neighbors = Neighbors.to_look_at(call, { file }, 0) or {}
    load_new(neighbors)
    local line, after = Notices.notice_line(file, call.request.user_id, Emit.names_of(names) or {}), {}
    for _, path in ipairs(neighbors) do
      notified = notified + tell(path, line, after)
    end
    count = count + notified
    Emit.event(call, {
      type = 'interface_changed',
      user = call.request.user_id,
      user_name = call.request.user_name,
      agent_id = call.request.agent_id ~= '' and call.request.agent_id or nil,
      branch = call.request.branch,
      files = Emit.names_of({ file }),
      file_count = 1,
      names = Emit.names_of(names),
      told = notified,
      time_ms = call.now_ms,
    })
  end
  LockChanges.save(call)
  return Answer.reply(call, 'TOLD', { count = count })
end
