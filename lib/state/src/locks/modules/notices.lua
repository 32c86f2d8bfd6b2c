-- Pending notices for the holder of a lock, in `notices` of its entry: a line for each neighbor whose interface changed although its
-- writer was to keep it. A line has the neighbor, the login of its writer, and names separated by commas, with tabs between. They are
-- text, because an entry is flat.
local Notices = {}

local MAX_NOTICE_BYTES = 1024

function Notices.notice_line(file, user, names)
  return file .. '\t' .. user .. '\t' .. table.concat(names, ', ') .. '\n'
end

-- How many more bytes these notices have room for.
function Notices.bytes_left(notices)
  return MAX_NOTICE_BYTES - #notices
end

-- The notices with the line appended; false if they contain it already, or have no room for it.
function Notices.with_line(notices, line)
  return #line <= Notices.bytes_left(notices) and not string.find(notices, line, 1, true) and notices .. line
end

return Notices
