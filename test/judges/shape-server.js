// Serves on its own port until its input ends; prints the address and its memory usage.

import { listen } from '../../dist/index.js'

const methods = {
  ping: () => 'pong',
  memory: () => {
    globalThis.gc()
    return {
      heap: process.memoryUsage().heapUsed,
      peak: process.resourceUsage().maxRSS * 1024,
    }
  },
}

const listener = await listen(methods, 'tcp://127.0.0.1:0', {
  protocol: 'jsonrpc',
  framing: 'length',
  // The texts are larger than what callers may send by default.
  decode: { maxBytes: 16 * 1024 * 1024 },
})
console.log(listener.address)
process.stdin.on('end', () => listener.close()).resume()
