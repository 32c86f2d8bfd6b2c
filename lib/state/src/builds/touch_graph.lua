-- touch_graph: records that the graph of a branch is in use, so that it is kept.
-- KEYS: `graph`, `adjacency`, `graph_json`, `graph_scan`
-- ARGV: that of admission/request
-- Returns { TOUCHED, now }
local Clock = require('clock')
local GraphAge = require('builds/graph_age')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  Clock.begin(call)

  GraphAge.version(call)
  return { 'TOUCHED', call.now }
end
