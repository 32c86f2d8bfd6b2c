-- touch_graph: notes that somebody asks about the graph of a branch, which is kept for it.
-- KEYS: 1 graph, 2... its parts: adjacency, ready JSON, scan
-- Returns { TOUCHED, now, version or '' }
graph_key = KEYS[1]
return { 'TOUCHED', now, graph_version({ unpack(KEYS, 2) }) }
