-- seal_ledger: moves the seal of a ledger from the place that was read to one further on, and drops the oldest sealed lines beyond
-- the limit. The chain of lines is made in Rust: Redis' Lua has no SHA-256.
-- KEYS: 1 seal, 2 ledger, 3 status log, 4 events channel
-- ARGV: 1 the sealed place that was read, or '', 2 the new one, 3 most lines that are kept, 4 lines between two waypoints,
--       5... waypoints between them: places
-- A place is the text 'SEQ:HASH ID': the number and the hash of a line, and its id in the stream. The seal is a hash of places:
-- `sealed`, after the newest sealed line; `base`, absent for the beginning, after which the kept lines begin; and each waypoint
-- between them, under its number.
-- Returns { SEALED, now } or { MOVED, now }: the seal is not where it was read; nothing changed
local keys = { seal = KEYS[1], ledger = KEYS[2], status_log = KEYS[3], events = KEYS[4] }
local read, sealed, most_lines, between = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local waypoints = { unpack(ARGV, 5) }
-- @include clock
-- @include events/emit

-- Most lines that one run drops, so that it does not block the store for long.
local MOST_DROPPED = 4096

local function seq_of(place)
  return tonumber(string.match(place, '^(%d+):'))
end

-- Drops the lines up to the waypoint `seq`, which becomes the base.
local function drop_to(base, seq)
  local field = string.format('%.0f', seq)
  local place = redis.call('HGET', keys.seal, field)
  if not place then
    return
  end
  local point, milliseconds, number = string.match(place, '^(%S+) (%d+)%-(%d+)$')
  redis.call('XTRIM', keys.ledger, 'MINID', milliseconds .. '-' .. string.format('%.0f', number + 1))
  redis.call('HSET', keys.seal, 'base', place)
  local passed = {}
  for waypoint = base + between - base % between, seq, between do
    passed[#passed + 1] = string.format('%.0f', waypoint)
  end
  redis.call('HDEL', keys.seal, unpack(passed))
  emit({ type = 'ledger_trimmed', lines = seq - base, base = point })
end

if (redis.call('HGET', keys.seal, 'sealed') or '') ~= read then
  return { 'MOVED', now }
end
local fields = { 'sealed', sealed }
for _, waypoint in ipairs(waypoints) do
  fields[#fields + 1] = string.format('%.0f', seq_of(waypoint))
  fields[#fields + 1] = waypoint
end
redis.call('HSET', keys.seal, unpack(fields))

local base = seq_of(redis.call('HGET', keys.seal, 'base') or '0:')
local count = seq_of(sealed)
local beyond = math.min(count - base - most_lines, MOST_DROPPED)
if beyond > 0 then
  local seq = math.ceil((base + beyond) / between) * between
  if seq > count then
    seq = seq - between
  end
  if seq > base then
    drop_to(base, seq)
  end
end
return { 'SEALED', now }
