import { engineClock, type RedisScript } from './script.ts'

/** KEYS: bucket. ARGV: tokens per second, burst, wanted, least. Returns the tokens and the wait in ms. */
export const takeScript: RedisScript = {
  text: `${engineClock}
local rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local want, least = tonumber(ARGV[3]), tonumber(ARGV[4])
local bucket = redis.call('HMGET', KEYS[1], 'n', 't')
local level = burst
if bucket[1] then
  level = math.min(burst, bucket[1] + math.max(0, us - bucket[2]) / 1000000 * rate)
end
local wait = math.ceil((least - level) / rate * 1000)
if wait > 0 then return {0, wait} end
local taken = math.min(want, math.max(least, math.floor(level)))
redis.call('HSET', KEYS[1], 'n', string.format('%.17g', level - taken), 't', string.format('%.0f', us))
redis.call('PEXPIRE', KEYS[1], math.ceil(burst / rate * 2000) + 1)
return {taken, 0}
`,
}

/** KEYS: bucket. ARGV: tokens to give back, burst. */
export const giveBackScript: RedisScript = {
  text: `
local level = redis.call('HGET', KEYS[1], 'n')
if level then
  level = math.min(tonumber(ARGV[2]), level + ARGV[1])
  redis.call('HSET', KEYS[1], 'n', string.format('%.17g', level))
end
return 1
`,
}

/** KEYS: slots (node → "<slots> <end>"). ARGV: total, node, wanted, ttlMs. Returns the slots of the node. */
export const slotsScript: RedisScript = {
  text: `${engineClock}
local leases = redis.call('HGETALL', KEYS[1])
local used, last = 0, now + ARGV[4]
for at = 1, #leases, 2 do
  local slots, till = string.match(leases[at + 1], '^(%d+) (%S+)$')
  if tonumber(till) <= now then
    redis.call('HDEL', KEYS[1], leases[at])
  elseif leases[at] ~= ARGV[2] then
    used = used + slots
    last = math.max(last, tonumber(till))
  end
end
local slots = math.max(0, math.min(tonumber(ARGV[3]), ARGV[1] - used))
if slots == 0 then
  redis.call('HDEL', KEYS[1], ARGV[2])
else
  redis.call('HSET', KEYS[1], ARGV[2], slots .. ' ' .. string.format('%.3f', now + ARGV[4]))
end
redis.call('PEXPIRE', KEYS[1], math.ceil(last - now) + 1)
return slots
`,
}
