import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { sources, withoutComments } from '../sources.ts'

/** Files that use the streams of the process, and for what. */
const allowed: ReadonlyMap<string, string> = new Map([
  ['cli/run.ts', 'gives them to the terminal, and watches for broken pipes'],
  ['cli/input/prompts.ts', 'the line editor, whose prompts are single printable lines'],
  ['cli/input/config-inputs.ts', 'the line editor, whose prompts are single printable lines'],
  ['cli/commands/up.ts', 'asks whether stderr is a terminal'],
  ['cli/watch/file-watch.ts', 'errors of a callback that has no handler'],
])

test('only the terminal of the command line writes to stdout and stderr', () => {
  const use = /process\.(?:stdout|stderr)|console\.(?!ts')\w+\b(?!\(…)|(?:stdout|stderr)\.write/
  const users = sources().filter(
    ({ path, text }) => path.startsWith('cli/') && use.test(withoutComments(text)),
  )
  const others = users.map(({ path }) => path).filter(path => path !== 'cli/terminal.ts')
  expect(others.filter(path => !allowed.has(path))).toEqual([])
})

const attack =
  '\u001b]52;c;cm0gLXJm\u0007\u001b[2J\u009b31m\u009d0;x\u009c\u202e\u2066\u200f\u061c\u007f\u2028\u{e0041}\r'

/** A server whose every text attacks the terminal. */
const program = `
const attack = ${JSON.stringify(attack)}
process.stderr.write('starting ' + attack + '\\n')
let rest = ''
process.stdin.on('data', chunk => {
  rest += chunk
  const lines = rest.split('\\n')
  rest = lines.pop()
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) continue
    const reply = answer(method, params)
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...reply }) + '\\n')
  }
})
function answer(method, params) {
  const text = 'text ' + attack
  switch (method) {
    case 'initialize':
      return { result: { protocolVersion: '2025-06-18', capabilities: { tools: {}, resources: {}, prompts: {}, logging: {} },
        serverInfo: { name: 'evil' + attack, version: attack, title: attack }, instructions: text } }
    case 'tools/list':
      return { result: { tools: [{ name: 'tool', title: text, description: text, inputSchema: { type: 'object', properties: { ['a' + attack]: { type: 'string', enum: [attack] } } } }] } }
    case 'prompts/list':
      return { result: { prompts: [{ name: 'prompt', description: text, arguments: [{ name: 'x' + attack }] }] } }
    case 'resources/list':
      return { result: { resources: [{ uri: 'x://a', name: text, description: text, mimeType: 'text/' + attack }] } }
    case 'resources/templates/list':
      return { result: { resourceTemplates: [] } }
    case 'resources/read':
      return { result: { contents: [{ uri: 'x://' + attack, text, mimeType: attack }] } }
    case 'prompts/get':
      return { result: { description: text, messages: [{ role: 'user', content: { type: 'text', text } }] } }
    case 'tools/call':
      if (params.name === 'tool') return { result: { content: [{ type: 'text', text }], structuredContent: { [attack]: attack } } }
      return { error: { code: -32000, message: text, data: { text } } }
    case 'die':
      process.exit(1)
  }
  return { error: { code: -32601, message: text, data: text } }
}
`

/** Programs that fail before they speak, with an attack as their last words. */
const crash = `process.stderr.write('Error: ' + ${JSON.stringify(attack)} + '\\n'); process.exit(1)`
const chatter = `process.stdout.write('hello ' + ${JSON.stringify(attack)} + '\\n'); process.exit(1)`

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-terminal-'))
  writeFileSync(join(folder, 'evil.cjs'), program)
  writeFileSync(join(folder, 'crash.cjs'), crash)
  writeFileSync(join(folder, 'chatter.cjs'), chatter)
  writeFileSync(join(folder, 'throws.mjs'), `throw new Error(${JSON.stringify(attack)})`)
  const servers = { evil: { command: process.execPath, args: [join(folder, 'evil.cjs')] } }
  writeFileSync(join(folder, 'up.json'), JSON.stringify({ mcpServers: servers }))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a command on a terminal, and returns what it printed. */
async function printed(args: readonly string[]): Promise<string> {
  const texts: string[] = []
  const screen = { write: (text: string) => texts.push(text), isTTY: true, columns: 100 }
  await run(args, { stdout: screen, stderr: screen, stdin: process.stdin, env: {} })
  return texts.join('')
}

/** Returns what could control a terminal, besides the styles and the progress bar of the command line. */
function foreign(text: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
  const ours = /\r\u001b\[K|\u001b\[\d+m/g
  const unsafe =
    /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu
  return text.replace(ours, '').match(unsafe) ?? []
}

const commands: readonly (readonly string[])[] = [
  ['list'],
  ['list', '--verbose'],
  ['list', '--json'],
  ['call', 'tool'],
  ['call', 'tool', '--verbose'],
  ['call', 'tool', '--json'],
  ['call', 'other', '--verbose'],
  ['read', 'x://a'],
  ['read', 'x://a', '--verbose'],
  ['read', 'x://a', '--json'],
  ['prompt', 'prompt'],
  ['prompt', 'prompt', '--json'],
  ['check'],
  ['check', '--verbose'],
  ['check', '--json'],
]

describe.each(commands)('trunkline %s %s %s', (...parts) => {
  const args = parts.filter(part => typeof part === 'string')

  test.each(['evil', 'crash', 'chatter'])('prints nothing that controls it: %s', async name => {
    const text = await printed([...args, '--', process.execPath, join(folder, `${name}.cjs`)])
    expect(text).not.toBe('')
    expect(foreign(text)).toEqual([])
  })
})

test.each([
  ['serve', () => ['serve', join(folder, 'throws.mjs'), '--verbose']],
  ['up', () => ['up', join(folder, 'up.json'), '--dry-run']],
  ['an unknown command', () => [attack]],
  ['an unknown option', () => ['list', `--${attack}`]],
  ['an unknown file', () => ['up', attack]],
  ['an unknown server', () => ['list', attack, '--config', join(folder, 'up.json')]],
  ['an address', () => ['list', `http://127.0.0.1:9/${attack}`]],
])('%s prints nothing that controls the terminal', async (_name, args) => {
  expect(foreign(await printed(args()))).toEqual([])
})
