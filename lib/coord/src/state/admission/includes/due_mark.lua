-- The mark of the repository: the sweep must know of it before something that expires is held in it; see mark_due.lua. Needs: admission.

-- Whether it has to be marked before something is held for so many seconds. The outcome is { MARK_FIRST, now } then.
local function lacks_mark(seconds)
  return request.kind ~= 'MARKED' and (not mark or tonumber(mark) > now + seconds)
end

-- Notes the mark that was just made.
local function note_mark(seconds)
  if request.kind == 'MARKED' then
    -- Seconds for which a mark counts, in case the due list is lost.
    local MARKED_FOR = 600
    redis.call('SET', keys.mark, now + seconds, 'EX', MARKED_FOR)
  end
end
