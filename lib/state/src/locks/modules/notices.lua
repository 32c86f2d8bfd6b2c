-- Pending notices for the holder of a lock: `notices` of its entry, a line for each neighbor whose interface changed although it was to
-- be kept: the neighbor, the login of its writer, and names separated by commas, with tabs between. Text, because an entry is flat.
local Notices = {}

local MOST_NOTICE_BYTES = 1024

function Notices.notice_line(file, user, names)
  return file .. '\t' .. user .. '\t' .. table.concat(names, ', ') .. '\n'
end

-- How many bytes more these notices have room for.
function Notices.room_behind(notices)
  return MOST_NOTICE_BYTES - #notices
end

-- The notices with the line behind them; false if they have it, or enough.
function Notices.with_line(notices, line)
  return #line <= Notices.room_behind(notices) and not string.find(notices, line, 1, true) and notices .. line
end

return Notices
