-- settle_due: ends the turn of a sweep at one repository. One in which nothing is held any more is looked at once more a turn
-- later, as `idle:REPOSITORY`, and only then forgotten: a claim that marked it before this sweep took it may still be on its
-- way, and no request lives as long as a turn.
-- KEYS: 1 due, 2 who has put repositories there in the last minute
-- ARGV: 1 repository, 2 its next expiry, or '' where nothing is held, 3 '1' if this was its last look, 4 seconds of a turn
-- Returns { SETTLED, now }
local due_key, claims_key = KEYS[1], KEYS[2]
local repository, next_expiry, was_last_look, turn = ARGV[1], ARGV[2], ARGV[3] == '1', tonumber(ARGV[4])
-- @include clock

redis.call('ZREM', due_key, 'sweeping:' .. repository)
if next_expiry ~= '' then
  redis.call('ZADD', due_key, 'LT', next_expiry, repository)
  -- Whoever has put it there may not take it away any more.
  redis.call('HDEL', claims_key, repository)
elseif not was_last_look then
  redis.call('ZADD', due_key, now + turn, 'idle:' .. repository)
end
return { 'SETTLED', now }
