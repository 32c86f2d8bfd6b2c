-- admit: admits a request that consists of reads only; see includes/admission.lua.
-- KEYS 1 to 8 and ARGV: those of includes/request.lua
-- Returns { ADMITTED, now, head or '', its age in seconds or '', '1' if it is unconfirmed } or one of the denials of admit()
-- @include admission/admission

return admit() or { 'ADMITTED', now, head.commit, head.age, head.is_unconfirmed }
