import { engineClock, type RedisScript } from './script.ts'

/**
 * KEYS: leases (node → end), changes (node → revision), departed (node → time), facts (node → "<last heartbeat>
 * <facts>"), and a hash with `revision`, `base` (a node with a smaller revision needs all members) and `born`.
 * Revisions are microseconds of the engine's clock, so that they also grow when it was emptied.
 */
const members = `${engineClock}
local leases, changes, departed, facts, state = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local revision = tonumber(redis.call('HGET', state, 'revision') or '0')
local function change(node)
  revision = math.max(revision + 1, us)
  redis.call('ZADD', changes, whole(revision), node)
  redis.call('HSET', state, 'revision', whole(revision))
end
local function depart(node)
  redis.call('ZREM', leases, node)
  redis.call('ZADD', departed, exact(now), node)
  change(node)
end
`

/** KEYS: as above. ARGV: node, facts, leaseMs, since, time to remember who left, a random text for `born`. */
export const heartbeatScript: RedisScript = {
  text: `${members}
redis.call('HSETNX', state, 'born', ARGV[6])
local base = tonumber(redis.call('HGET', state, 'base'))
if not base then
  base = us
  revision = math.max(revision, us)
  redis.call('HSET', state, 'base', whole(base))
end
for _, node in ipairs(redis.call('ZRANGE', leases, '-inf', exact(now), 'BYSCORE')) do depart(node) end
for _, node in ipairs(redis.call('ZRANGE', departed, '-inf', exact(now - ARGV[5]), 'BYSCORE')) do
  base = math.max(base, tonumber(redis.call('ZSCORE', changes, node) or '0'))
  redis.call('HSET', state, 'base', whole(base))
  redis.call('ZREM', changes, node)
  redis.call('ZREM', departed, node)
  redis.call('HDEL', facts, node)
end

local wasExpelled = redis.call('ZREM', departed, ARGV[1])
local known = redis.call('HGET', facts, ARGV[1])
local isAlive = redis.call('ZSCORE', leases, ARGV[1])
if not (isAlive and known and string.match(known, '^%S+ (.*)$') == ARGV[2]) then change(ARGV[1]) end
redis.call('ZADD', leases, exact(now + ARGV[3]), ARGV[1])
redis.call('HSET', facts, ARGV[1], exact(now) .. ' ' .. ARGV[2])

local since = tonumber(ARGV[4])
local isComplete = since < base or since > revision
local nodes
if isComplete then
  nodes = redis.call('ZRANGE', leases, 0, -1)
else
  nodes = redis.call('ZRANGE', changes, '(' .. whole(since), '+inf', 'BYSCORE')
end
local changed = {}
for _, node in ipairs(nodes) do
  local seen, text = string.match(redis.call('HGET', facts, node), '^(%S+) (.*)$')
  changed[#changed + 1] = node
  changed[#changed + 1] = redis.call('ZSCORE', leases, node) and 1 or 0
  changed[#changed + 1] = math.max(0, math.floor(now - seen))
  changed[#changed + 1] = text
end
return {redis.call('HGET', state, 'born'), whole(revision), isComplete and 1 or 0, wasExpelled, changed}
`,
}

/** KEYS: as above. ARGV: node, the least silence in ms; -1 for a node that leaves. */
export const expelScript: RedisScript = {
  text: `${members}
local lease = redis.call('ZSCORE', leases, ARGV[1])
if not lease then return 1 end
local seen = string.match(redis.call('HGET', facts, ARGV[1]), '^%S+')
if tonumber(lease) > now and now - seen <= tonumber(ARGV[2]) then return 0 end
depart(ARGV[1])
return 1
`,
}
