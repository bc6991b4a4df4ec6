/* node listen-server.js ADDRESS: prints the bound address, and closes when its input ends */
import { createRequire } from 'node:module'
import { listen } from '../../dist/index.js'

const methods = {
  sum: (a, b) => a + b,
  // CommonJS packages, as ours are, appear in this list once they are loaded.
  packages: () => {
    const names = Object.keys(createRequire(import.meta.url).cache)
    return [...new Set(names.map(name => /node_modules[\\/]([^\\/]+)/.exec(name)?.[1]))]
  },
}
const listener = await listen(methods, process.argv[2], { protocol: 'jsonrpc' })
if (listener.address === 'stdio:') {
  await listener.ended
  console.log('over')
} else {
  console.log(listener.address)
  process.stdin.resume().once('end', () => void listener.close())
}
