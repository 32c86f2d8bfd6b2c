-- probe: tests whether the store can be written.
-- KEYS: 1 probe
-- ARGV: 1 seconds after which the key expires
-- Returns { WRITTEN, now }
local probe_key, kept_for = KEYS[1], ARGV[1]
-- @include clock

redis.call('SET', probe_key, now, 'EX', kept_for)
return { 'WRITTEN', now }
