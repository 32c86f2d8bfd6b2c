-- seal_ledger: moves the seal of a ledger from the position that was read to a later one, and drops the oldest sealed lines beyond
-- the limit. Rust chains the lines: Redis' Lua has no SHA-256.
-- KEYS: `seal`, `ledger`, `status_log`, `events`, `shares` of logins
-- ARGV: that of admission/request, with `read`: the sealed position that was read, absent for none, `sealed`: the new one, `most_lines` that
-- are kept, `between`: lines between two waypoints, and `waypoints`: the positions of those between the two
-- A position is the text 'SEQ:HASH ID': the number and the hash of a line, and its id in the stream. The seal is a hash of positions:
-- `sealed`, after the newest sealed line; `base`, absent for the beginning, after which the kept lines begin; and each waypoint
-- between them, under its number.
-- Returns { SEALED, now } or { MOVED, now }: the seal is not where it was read; nothing changed
local Chunks = require('chunks')
local Clock = require('clock')
local Emit = require('events/emit')
local Request = require('admission/request')

-- If several logins append, lines of the last day stay until the ledger has MAX_TIMES the lines that it keeps.
local DAY_MS, MAX_TIMES = 86400000, 4

local function seq_of(position)
  return tonumber(string.match(position, '^(%d+):'))
end

-- The name of a waypoint in the seal.
local function field_of(seq)
  return string.format('%.0f', seq)
end

local function move_seal(call)
  local fields = { 'sealed', call.request.sealed }
  for _, waypoint in ipairs(call.request.waypoints) do
    fields[#fields + 1] = field_of(seq_of(waypoint))
    fields[#fields + 1] = waypoint
  end
  redis.call('HSET', call.keys.seal, unpack(fields))
end

-- Writes the maximum of kept lines, for modules/append.lua, and forgets logins that have appended nothing for a day. Returns whether
-- at most one login is left.
local function is_of_one_login(call)
  redis.call('HSET', call.keys.shares, '\n', call.request.most_lines)
  if redis.call('HLEN', call.keys.shares) <= 2 then
    return true
  end
  local stored, silent, count = redis.call('HGETALL', call.keys.shares), {}, 0
  for index = 1, #stored, 2 do
    local last = tonumber(string.match(stored[index + 1], ' (%d+)$'))
    if last and last < call.now_ms - DAY_MS then
      silent[#silent + 1] = stored[index]
    elseif last then
      count = count + 1
    end
  end
  Chunks.call_in_chunks('HDEL', call.keys.shares, silent)
  return count <= 1
end

-- Whether the lines up to the waypoint `seq` are a day old.
local function is_old(call, seq)
  local position = redis.call('HGET', call.keys.seal, field_of(seq))
  local milliseconds = string.match(position or '', ' (%d+)%-%d+$')
  return milliseconds ~= nil and tonumber(milliseconds) <= call.now_ms - DAY_MS
end

-- The waypoint up to which lines are dropped; `base` or an earlier one if none are.
local function new_base(call, base, is_alone)
  -- Maximum lines that one run drops, so that it does not block the store for long.
  local MAX_DROPPED = 4096
  local most_lines, between, count = call.request.most_lines, call.request.between, seq_of(call.request.sealed)
  local beyond = math.min(count - base - most_lines, MAX_DROPPED)
  if beyond <= 0 then
    return base
  end
  local seq = math.ceil((base + beyond) / between) * between
  if seq > count then
    seq = seq - between
  end
  -- If several logins append, young lines go only beyond the maximum of the ledger.
  local least = math.floor((count - most_lines * MAX_TIMES) / between) * between
  while not is_alone and seq > base and seq > least and not is_old(call, seq) do
    seq = seq - between
  end
  return seq
end

-- Drops the lines up to the waypoint `seq`, which becomes the base.
local function drop_to(call, base, seq)
  local between, position = call.request.between, redis.call('HGET', call.keys.seal, field_of(seq))
  if not position then
    return
  end
  local point, milliseconds, number = string.match(position, '^(%S+) (%d+)%-(%d+)$')
  redis.call('XTRIM', call.keys.ledger, 'MINID', milliseconds .. '-' .. string.format('%.0f', number + 1))
  redis.call('HSET', call.keys.seal, 'base', position)
  local waypoints = {}
  for waypoint = base + between - base % between, seq, between do
    waypoints[#waypoints + 1] = field_of(waypoint)
  end
  redis.call('HDEL', call.keys.seal, unpack(waypoints))
  Emit.event(call, { type = 'ledger_trimmed', lines = seq - base, base = point })
end

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  Clock.begin(call)

  if (redis.call('HGET', call.keys.seal, 'sealed') or nil) ~= call.request.read then
    return { 'MOVED', call.now }
  end
  move_seal(call)
  local is_alone = is_of_one_login(call)
  local base = seq_of(redis.call('HGET', call.keys.seal, 'base') or '0:')
  local seq = new_base(call, base, is_alone)
  if seq > base then
    drop_to(call, base, seq)
  end
  return { 'SEALED', call.now }
end
