-- Names that the includes share. Each script binds those it uses in its first lines.
local locks_key, expiries_key, graph_key, adjacency_key, head_key, status_log_key, events_channel, held_key
local json_key, scan_key, refusals_key
local branch, user_id, user_name, agent_id
-- The clock is the store's, the same for the whole script: Unix seconds, and milliseconds.
local clock = redis.call('TIME')
local now, now_ms = tonumber(clock[1]), clock[1] * 1000 + math.floor(clock[2] / 1000)
-- Lua's unpack gives up near 8,000 values; commands are sent in chunks of this many.
local CHUNK = 1000

-- Runs `command key values...` in chunks. An even CHUNK keeps pairs together.
local function call_in_chunks(command, key, values)
  for first = 1, #values, CHUNK do
    redis.call(command, key, unpack(values, first, math.min(first + CHUNK - 1, #values)))
  end
end

-- ARGV from `first` on, as a list.
local function arguments_from(first)
  local list = {}
  for index = first, #ARGV do
    list[#list + 1] = ARGV[index]
  end
  return list
end
