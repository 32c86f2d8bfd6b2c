-- The mark of the repository: the sweep must know of it before something that expires is held in it; see mark_due.lua.
local DueMark = {}

-- Whether it has to be marked before something is held for so many seconds. The outcome is { MARK_FIRST, now } then.
function DueMark.lacks_mark(call, seconds)
  return call.request.kind ~= 'MARKED' and (not call.mark or tonumber(call.mark) > call.now + seconds)
end

-- Notes the mark that was just made.
function DueMark.note_mark(call, seconds)
  if call.request.kind == 'MARKED' then
    -- Seconds for which a mark counts, in case the due list is lost.
    local MARKED_FOR = 600
    redis.call('SET', call.keys.mark, call.now + seconds, 'EX', MARKED_FOR)
  end
end

return DueMark
