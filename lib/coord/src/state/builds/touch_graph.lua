-- touch_graph: records that the graph of a branch is in use, so that it is kept.
-- KEYS: 1 graph, 2 adjacency, 3 graph as JSON, 4 scan of the graph
-- Returns { TOUCHED, now, version or '' }
local Clock = require('clock')
local GraphAge = require('builds/graph_age')

return function(KEYS)
  local call = {}
  call.keys = { graph = KEYS[1], adjacency = KEYS[2], graph_json = KEYS[3], graph_scan = KEYS[4] }
  Clock.begin(call)

  return { 'TOUCHED', call.now, GraphAge.version(call) }
end
