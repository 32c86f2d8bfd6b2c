-- The mark of the repository: it must be on the due list before anything that expires is held in it; see mark_due.lua.
local DueMark = {}

-- Whether the repository must be marked before something is held for so many seconds. Then the outcome is { MARK_FIRST, now }.
function DueMark.lacks_mark(call, seconds)
  return call.request.kind ~= 'MARKED' and (not call.mark or tonumber(call.mark) > call.now + seconds)
end

-- Records the mark that mark_due has just made.
function DueMark.note_mark(call, seconds)
  if call.request.kind == 'MARKED' then
    -- Seconds for which a mark counts, in case the due list is lost.
    local MARKED_FOR = 600
    redis.call('SET', call.keys.mark, call.now + seconds, 'EX', MARKED_FOR)
  end
end

return DueMark
