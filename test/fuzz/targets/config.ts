import assert from 'node:assert/strict'
import { ConfigError } from '../../../src/router/config/issue.ts'
import { type RouterConfig, readConfig } from '../../../src/router/config/read.ts'
import { fieldsOf } from '../../../src/router/config/schema.ts'
import { json } from '../json.ts'
import type { Random } from '../random.ts'
import { target } from '../target.ts'

const secret = 'hunter2-secret'
const env = { TOKEN: secret, EMPTY: '', constructor: undefined }
const values = [
  `"\${TOKEN}"`,
  `"Bearer \${env:TOKEN}"`,
  `"\${MISSING:-x}"`,
  `"\${MISSING}"`,
  `"$\${TOKEN}"`,
  `"\${"`,
  '"http://127.0.0.1:1/mcp"',
  `"https://\${TOKEN}/"`,
  '"unix:x.sock"',
  '"stdio"',
  `["a", "\${EMPTY}"]`,
  '{"a": "b"}',
  '1',
  '-1',
  '1e99',
  'true',
  'null',
  '""',
] as const

/**
 * Texts of configuration files: the only exception is a ConfigError with positions inside the text, and
 * neither its messages nor the displayable strings contain the value of a variable.
 */
export const configTarget = target(
  'config',
  random => ({ text: Buffer.from(hostile(random)).toString() }),
  ({ text }) => {
    const lines = text.split(/\r\n|\r|\n/).length
    let config: RouterConfig
    try {
      config = readConfig(text, { env, file: 'x.json' })
    } catch (error) {
      assert.ok(error instanceof ConfigError, `a ConfigError, not ${error}`)
      assert.ok(error.issues.some(issue => issue.severity === 'error'))
      for (const { line, column } of error.issues) assert.ok(line <= lines && column >= 0)
      assert.ok(!error.message.includes(secret), 'an error contains no value of a variable')
      return
    }
    assert.ok(Object.isFrozen(config) && config.listen.length > 0)
    const shown = JSON.stringify([...config.shown, config.warnings])
    assert.ok(!shown.includes(secret), 'nothing displayable contains the value of a variable')
    assert.deepEqual(readConfig(text, { env, file: 'x.json' }), config)
  },
)

function hostile(random: Random): Uint8Array {
  const kind = random.int(8)
  if (kind === 0) return Buffer.from(json(random, 6))
  if (kind === 1)
    return Buffer.from(random.pick(['[', '{"a":', '/*', '//']).repeat(random.int(400)))
  const servers = Array.from(
    { length: random.int(3) },
    (_, at) => `"s${at}": ${group(random, 'server', 2)}`,
  )
  const key = random.pick(['mcpServers', 'mcpServers', 'servers'])
  const members = [`"${key}": {${servers.join(', ')}}`]
  for (let left = random.int(4); left > 0; left--) members.push(member(random, 'file', 2))
  const text = Buffer.from(`{ // note\n  ${members.join(',\n  ')},\n}\n`)
  return kind < 6 ? text : random.mutate(text)
}

/** Generates an object with some fields of a group, and sometimes unknown ones. */
function group(random: Random, name: string, depth: number): string {
  const members = Array.from({ length: random.int(4) }, () => member(random, name, depth))
  if (name === 'server' && !random.once(6)) {
    members.unshift(random.pick(['"command": "node"', '"url": "http://127.0.0.1:1/mcp"']))
  }
  return `{${members.join(', ')}}`
}

function member(random: Random, name: string, depth: number): string {
  const fields = [...fieldsOf(name)]
  const [field, { example }] = fields[random.int(fields.length)] ?? ['x', { example: 1 }]
  if (random.once(12)) return `"${random.pick(['__proto__', 'constructor', 'urll', ''])}": 1`
  if (random.once(3)) return `"${field}": ${random.pick(values)}`
  if (depth > 0 && random.once(6)) return `"${field}": ${group(random, name, depth - 1)}`
  return `"${field}": ${JSON.stringify(example)}`
}
