-- Whether a refusal is to be logged: the same one of the same request once in REFUSAL_SECONDS. `refusals` is a hash of a
-- request's digest and the login -> time of its log entry, and number of refusals since. Once it is large, those of the login that
-- has most are forgotten.
local FirstRefusal = {}

-- Returns how often it was repeated since it was logged, or nil where that was less than REFUSAL_SECONDS ago. `parts`: texts
-- that distinguish it from others.
function FirstRefusal.count(call, parts)
  local REFUSAL_SECONDS, MOST_REFUSALS, REFUSALS_FOR = 60, 1000, 3600
  local name = redis.sha1hex(table.concat(parts, '\n')) .. ' ' .. call.request.user_id
  local noted = redis.call('HGET', call.keys.refusals, name)
  local logged_at, repeated = string.match(noted or '0 0', '^(%d+) (%d+)$')
  if math.abs(call.now - logged_at) < REFUSAL_SECONDS then
    redis.call('HSET', call.keys.refusals, name, logged_at .. ' ' .. repeated + 1)
    return nil
  end
  if not noted and redis.call('HLEN', call.keys.refusals) >= MOST_REFUSALS then
    local of_login, most = {}, ''
    for _, other in ipairs(redis.call('HKEYS', call.keys.refusals)) do
      local login = string.match(other, ' (.*)') or ''
      of_login[login] = of_login[login] or {}
      table.insert(of_login[login], other)
      if #of_login[login] > #(of_login[most] or {}) then
        most = login
      end
    end
    redis.call('HDEL', call.keys.refusals, unpack(of_login[most]))
  end
  redis.call('HSET', call.keys.refusals, name, call.now .. ' 0')
  redis.call('EXPIRE', call.keys.refusals, REFUSALS_FOR)
  return tonumber(repeated)
end

return FirstRefusal
