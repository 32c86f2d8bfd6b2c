-- Whether to log a refusal: the same refusal of the same request is logged once in REFUSAL_SECONDS. `refusals` is a hash: digest of
-- a request and login -> time of its log entry, and number of refusals since. Once the hash is large, the login with the most entries
-- loses its entries.
local FirstRefusal = {}

-- Counts a refusal. Returns how often it was repeated since it was logged, or nil if that was less than REFUSAL_SECONDS ago.
-- `parts`: texts that distinguish it from others.
function FirstRefusal.count(call, parts)
  local REFUSAL_SECONDS, MAX_REFUSALS, REFUSALS_FOR = 60, 1000, 3600
  local name = redis.sha1hex(table.concat(parts, '\n')) .. ' ' .. call.request.user_id
  local stored = redis.call('HGET', call.keys.refusals, name)
  local logged_at, repeated = string.match(stored or '0 0', '^(%d+) (%d+)$')
  if math.abs(call.now - logged_at) < REFUSAL_SECONDS then
    redis.call('HSET', call.keys.refusals, name, logged_at .. ' ' .. repeated + 1)
    return nil
  end
  if not stored and redis.call('HLEN', call.keys.refusals) >= MAX_REFUSALS then
    local names_of, largest_login = {}, ''
    for _, other in ipairs(redis.call('HKEYS', call.keys.refusals)) do
      local login = string.match(other, ' (.*)') or ''
      names_of[login] = names_of[login] or {}
      table.insert(names_of[login], other)
      if #names_of[login] > #(names_of[largest_login] or {}) then
        largest_login = login
      end
    end
    redis.call('HDEL', call.keys.refusals, unpack(names_of[largest_login]))
  end
  redis.call('HSET', call.keys.refusals, name, call.now .. ' 0')
  redis.call('EXPIRE', call.keys.refusals, REFUSALS_FOR)
  return tonumber(repeated)
end

return FirstRefusal
