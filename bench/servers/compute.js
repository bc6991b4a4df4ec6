// A server for `trunkline serve`, whose tool takes a core for a few milliseconds.
import { ours } from '../ours.js'

const { Server } = await ours('index')

export const server = new Server({ name: 'compute', version: '1' })

server.tool('compute', {}, () => {
  let sum = 0
  for (let at = 0; at < 1_000_000; at++) sum = (sum * 31 + at) % 1_000_003
  return String(sum)
})
