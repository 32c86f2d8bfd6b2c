-- The handshake of the caller.
-- The agents of a person have one hash: agent id, '' for none -> when it was written (Unix milliseconds), a blank, and JSON: `state`:
-- REQUEST, REASONING or ACTION; `intent`: the selected one, absent for none, and `version` of its record then; `last`: the one
-- selected before; `call`: digest of the last allowed tool call, and `repeats`, how often in a row; `tokens`: session id -> its
-- running total, of the latest 16 sessions, which are in `order`.
local Session = {}

-- call.session: nil until it is loaded

function Session.load(call)
  -- As `KEPT_FOR_MS` in `read.rs`.
  local KEPT_FOR_MS = 86400000
  local stored = redis.call('HGET', call.keys.sessions, call.request.agent_id)
  local time, text = string.match(stored or '', '^(%d+) (.*)$')
  call.session = text and call.now_ms - time < KEPT_FOR_MS and cjson.decode(text) or { state = 'REQUEST' }
  return call.session
end

-- Writes the session. Beyond MAX_AGENTS, the agent that has been silent for the longest time is forgotten.
function Session.save(call)
  local SECONDS, MAX_AGENTS = 86400, 256
  local text = string.format('%.0f ', call.now_ms) .. cjson.encode(call.session)
  local is_new = redis.call('HSET', call.keys.sessions, call.request.agent_id, text) == 1
  redis.call('EXPIRE', call.keys.sessions, SECONDS)
  if is_new and redis.call('HLEN', call.keys.sessions) > MAX_AGENTS then
    local stored, oldest, oldest_agent = redis.call('HGETALL', call.keys.sessions), math.huge, nil
    for index = 1, #stored, 2 do
      local time = tonumber(string.match(stored[index + 1], '^%d+'))
      if time < oldest and stored[index] ~= call.request.agent_id then
        oldest, oldest_agent = time, stored[index]
      end
    end
    redis.call('HDEL', call.keys.sessions, oldest_agent)
  end
end

return Session
