-- enter: lets a question in that is answered by reading alone; see includes/enter.lua.
-- KEYS, ARGV: those of includes/enter.lua
-- Returns { ENTERED, now, head, its age in seconds or '', '1' if it is unconfirmed } or one of the answers of enter()
return enter() or { 'ENTERED', now, repo_head, head_age, is_unconfirmed }
