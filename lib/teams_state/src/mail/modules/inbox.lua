-- The order of the messages. An inbox is a prefix of keys.mail: '=HANDLE', '*' for broadcasts, '>HANDLE' for the broadcasts of a
-- member, '-' for messages that former members had not read.
local Inbox = {}

function Inbox.padded(sequence)
  return string.format('%012.0f', sequence)
end

-- Up to `most` entries of the inbox after a sequence: list of the texts after the inbox's name, 'SEQUENCE ORDINAL...'.
function Inbox.entries_after(call, inbox, sequence, most)
  local first, last = '(' .. inbox .. ' ' .. Inbox.padded(sequence) .. '~', '(' .. inbox .. '!'
  local entries = redis.call('ZRANGEBYLEX', call.keys.mail, first, last, 'LIMIT', 0, most)
  for index, entry in ipairs(entries) do
    entries[index] = string.sub(entry, #inbox + 2)
  end
  return entries
end

-- How many of the inbox's messages, of which there were `total`, arrived up to a sequence. Dropped messages right after it count too.
function Inbox.count_up_to(call, inbox, sequence, total)
  local next_entry = Inbox.entries_after(call, inbox, sequence, 1)[1]
  return next_entry and tonumber(string.match(next_entry, '^%d+ (%d+)')) - 1 or total
end

return Inbox
