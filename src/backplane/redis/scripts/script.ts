/** A Lua script. The engine runs it as a whole, and knows it by the hash of its text. */
export interface RedisScript {
  readonly text: string
}

/** The clock of the engine, in microseconds and in milliseconds with a fraction; and numbers as text. */
export const engineClock = `
local t = redis.call('TIME')
local us = t[1] * 1000000 + t[2]
local now = us / 1000
local function whole(number) return string.format('%.0f', number) end
local function exact(number) return string.format('%.3f', number) end
`
