-- probe: shows whether the store can be written.
-- KEYS: 1 probe
-- ARGV: 1 seconds after which nothing is left of it
-- Returns { WRITTEN, now }
redis.call('SET', KEYS[1], now, 'EX', ARGV[1])
return { 'WRITTEN', now }
