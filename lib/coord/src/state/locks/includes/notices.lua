-- What the holder of a lock has yet to be told: `notices` of its entry, a line for each neighbor whose interface changed although it was
-- to be kept: the neighbor, the login of its writer, and names separated by commas, with tabs between. Text, because an entry is flat.

-- Adds one to `entry`, unless it has enough.
local function add_notice(entry, file, user, names)
  local MOST_BYTES = 1024
  local line = file .. '\t' .. user .. '\t' .. names .. '\n'
  if #(entry.notices or '') + #line > MOST_BYTES or string.find(entry.notices or '', line, 1, true) then
    return false
  end
  entry.notices = (entry.notices or '') .. line
  return true
end
