/* node trunkline.js stdio|tcp|ws */
import { ours } from '../ours.js'
import { announce, methods } from './methods.js'

const { listen } = await ours('index')
const [transport] = process.argv.slice(2)
const address = transport === 'stdio' ? 'stdio:' : `${transport}://127.0.0.1:0`
const listener = await listen(methods, address, { protocol: 'jsonrpc' })
if (transport !== 'stdio') announce(Number(new URL(listener.address).port))
// A clean exit lets a profiler write its file.
else process.stdin.on('end', () => setImmediate(() => process.exit(0)))
