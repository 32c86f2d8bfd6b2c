-- Fencing tokens increase with every grant in a repository, even if the store loses its newest changes, or all: each is at
-- least the time, in tenths of a millisecond. That has 14 digits, the maximum that cjson writes.
local Tokens = {}

function Tokens.next(call)
  local time = call.clock[1] * 10000 + math.floor(call.clock[2] / 100)
  local token = math.max(tonumber(redis.call('GET', call.keys.token) or 0) + 1, time)
  redis.call('SET', call.keys.token, string.format('%.0f', token))
  return token
end

return Tokens
