-- The handshake of the caller. Needs: keys.session.
-- It is JSON: `state`: REQUEST, REASONING or ACTION; `intent`: the selected one, absent for none, and `version` of its record
-- then; `last`: the one selected before; `call`: digest of the last tool call that was let in, and `repeats`, how often in a
-- row; `tokens`: session id -> its running total, the latest 16 sessions of `order`.

local session -- nil until it is loaded

local function load_session()
  local stored = redis.call('GET', keys.session)
  session = stored and cjson.decode(stored) or { state = 'REQUEST' }
  return session
end

local function save_session()
  local SECONDS = 86400
  redis.call('SET', keys.session, cjson.encode(session), 'EX', SECONDS)
end
