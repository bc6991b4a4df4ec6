// Reads examples/router-config.jsonc and serves its servers, like `trunkline up` but in your own
// program: with metrics and health at the same address.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { connect, listen } from 'trunkline'
import { observe } from 'trunkline/observe'
import { ConfigError, Router, readConfig } from 'trunkline/router'

// Child processes start in the working directory of this process.
process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const file = 'examples/router-config.jsonc'
const source = await readFile(file, 'utf8')
const config = readConfig(source, { file, env: process.env })

const router = new Router({ ...config.router, servers: config.servers })
const observer = observe({ endpoint: router })
// The file names a fixed port; this example uses a free one.
assert.deepEqual(config.listen, ['http://127.0.0.1:3000/mcp'])
const listener = await listen(router, 'http://127.0.0.1:0/mcp', { ops: observer.ops })
await router.ready()

const client = await connect(listener.address)
assert.equal(client.server.name, 'examples')
const tools = []
for await (const tool of client.tools()) tools.push(tool.name)
assert.deepEqual(tools, ['hello__greet', 'worker__whoami'])
console.log(tools.join(', '))

const answers = await Promise.all([client.call('worker__whoami'), client.call('worker__whoami')])
assert.notEqual(answers[0].text, answers[1].text)
assert.equal((await client.call('hello__greet', { name: 'Ada' })).text, 'Hello, Ada!')

const ready = await (await fetch(new URL('/readyz', listener.address))).json()
assert.equal(ready.status, 'ready')
console.log(ready.servers.map(({ name, level }) => `${name} ${level}`).join(', '))

// Applies a changed file at run time. Servers that did not change keep running.
const [hello] = router.server('hello').instances
const changed = source.replace('"instances": 2', '"disabled": true')
await router.update(readConfig(changed, { file, env: process.env }).servers)
assert.deepEqual(
  router.servers().map(({ name }) => name),
  ['hello'],
)
assert.deepEqual(router.server('hello').instances[0].pids, hello.pids)

// A file with errors is rejected as a whole, and the message lists all of them.
const wrong = source.replace('"command"', '"comand"').replace('"balance"', '"balanced"')
assert.throws(
  () => readConfig(wrong, { file, env: process.env }),
  error => {
    assert.ok(error instanceof ConfigError)
    console.log(error.message)
    return /did you mean "command"/.test(error.message) && error.issues.length > 1
  },
)

await client.close()
await listener.close()
await router.close()
await observer.close()
