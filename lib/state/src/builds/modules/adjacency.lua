-- The stored import graph.
--
-- The adjacency of a file is text: a count and a newline, then one line per neighbor, '>' and a file that it imports or '<'
-- and a file that imports it. A hub, a file with very many neighbors, has 'B', its count, ':' and its number of chunks; then
-- only the lines of neighbors that are hubs too. All its lines are in the chunks, fields PATH .. '\n' .. number. So every
-- neighbor can be found from the smaller side: from the hub's chunks, or from the adjacency of locked files. '>' lines come
-- before '<' lines, so that two files that import each other give the same result from either side.
--
-- The work of one script is limited: it reads at most MAX_LINES lines, and BYTES_OF_LINE bytes of text count as a line.
local Adjacency = {}

local BYTES_OF_LINE = 256
Adjacency.BYTES_OF_LINE = BYTES_OF_LINE
local MAX_LINES = 100000
Adjacency.MAX_LINES = MAX_LINES

function Adjacency.begin(call)
  call.lines_left = MAX_LINES
  call.is_tracked = {} -- file path -> its number of neighbors, or true; only tracked files that this call has looked up
end

-- Counts `lines` as read; false if that exceeds the limit.
function Adjacency.spend(call, lines)
  call.lines_left = call.lines_left - lines
  return call.lines_left >= 0
end

-- Calls `visit(sign, neighbor)` for every line of an adjacency or a chunk; returns the number of lines. Searches only for line ends:
-- a pattern checks each character, and a script may read 100,000 lines.
function Adjacency.each_neighbor(text, visit)
  local lines, from, last = 0, 1, string.find(text, '\n', 1, true)
  while last do
    local sign = string.sub(text, from, from)
    if sign == '<' or sign == '>' then
      lines = lines + 1
      visit(sign, string.sub(text, from + 1, last - 1))
    end
    from, last = last + 1, string.find(text, '\n', last + 1, true)
  end
  return lines
end

-- Calls `visit(text, name, index)` for the fields `names` of the adjacency, in order; `text` is false for a missing field.
-- Stops, with false, when `visit` returns false.
function Adjacency.each_text(call, names, visit)
  -- The size of the texts is known only after they are fetched.
  local TEXTS_AT_ONCE = 256
  for first = 1, #names, TEXTS_AT_ONCE do
    local last = math.min(first + TEXTS_AT_ONCE - 1, #names)
    local texts = redis.call('HMGET', call.keys.adjacency, unpack(names, first, last))
    for index = first, last do
      if visit(texts[index - first + 1], names[index], index) == false then
        return false
      end
    end
  end
  return true
end

-- Calls `visit(sign, neighbor)` for every line of the hub at `path`; false if there are too many.
function Adjacency.each_neighbor_of_hub(call, path, chunks, visit)
  local fields = {}
  for number = 1, chunks do
    fields[number] = path .. '\n' .. number
  end
  return Adjacency.each_text(call, fields, function(text)
    return Adjacency.spend(call, text and Adjacency.each_neighbor(text, visit) + #text / BYTES_OF_LINE or 1)
  end)
end

return Adjacency
