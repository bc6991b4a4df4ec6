import { once } from 'node:events'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect.ts'
import { isAlive } from '../support/processes.ts'
import { fixture, start, trunkline } from './bin.ts'

const everything = {
  command: process.execPath,
  args: [fixture('../fixtures/everything-stdio.js')],
}

/** An empty folder for as long as the test lasts. */
function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-up-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts `up` in a folder and waits for its first lines, up to the one that matches. */
async function upUntil(pattern: RegExp, args: readonly string[], cwd: string) {
  const child = start(['up', ...args], { cwd })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said: string[] = []
  const notes = createInterface({ input: child.stderr })
  notes.on('line', line => said.push(line))
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (pattern.test(line)) break
  }
  const [, address = ''] = /Serving (\S+)/.exec(lines.join('\n')) ?? []
  return { child, lines, said, notes, address }
}

describe('up', () => {
  test('shows two servers to try where there is no configuration, and leaves nothing behind', async () => {
    const listen = ['--listen', 'http://127.0.0.1:0/mcp']
    const { child, lines, address } = await upUntil(/readyz/, listen, emptyFolder())
    expect(lines.slice(1, 5)).toEqual([
      '  ✓ text (2 tools, 2 instances)',
      '      text__count, text__shout',
      '  ✓ clock (3 tools)',
      '      clock__now, clock__wait, clock__greet',
    ])
    const called = await trunkline(['call', address, 'text__count', 'text=one two three'])
    expect(called.stdout).toMatch(/^3 words, counted by process \d+/)
    const ready = await fetch(new URL('/readyz', address))
    expect(await ready.json()).toMatchObject({ servers: [{ name: 'text', level: 'ok' }, {}] })
    const metrics = await (await fetch(new URL('/metrics', address))).text()
    expect(metrics).toMatch(/trunkline_calls_total\{[^}]*server="text"[^}]*\} 1/)
    const pids = [...called.stdout.matchAll(/process (\d+)/g)].map(([, pid]) => Number(pid))
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('balances between the instances of a server', async () => {
    const listen = ['--listen', 'http://127.0.0.1:0/mcp']
    const { address } = await upUntil(/readyz/, listen, emptyFolder())
    await using client = await connect(address)
    const answers = new Set<string>()
    for (let call = 0; call < 4; call++) {
      answers.add((await client.call('text__count', { text: 'one' })).text)
    }
    expect(answers.size).toBe(2)
  })

  test('is a server on standard input and output for whoever starts it', async () => {
    const folder = emptyFolder()
    writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: { all: everything } }))
    const args = [fixture('../../dist/cli/main.js'), 'up', '--listen', 'stdio:', '-q']
    await using client = await connect({ command: process.execPath, args, cwd: folder })
    const names = []
    for await (const { name } of client.tools()) names.push(name)
    expect(names.every(name => name.startsWith('all__'))).toBe(true)
    expect(names.length).toBeGreaterThan(3)
  })

  test.each([
    ['info', /"configuration reloaded".*"ok":true,"added":\["two"\]/],
    ['warn', /^configuration read again: added two$/],
  ])(
    'reads its file again when it changes, and tells once what came of it, at %s',
    async (level, again) => {
      const folder = emptyFolder()
      const file = join(folder, 'trunkline.json')
      const write = (text: string) => {
        writeFileSync(`${file}.new`, text)
        renameSync(`${file}.new`, file)
      }
      const listen = 'http://127.0.0.1:0/mcp'
      write(JSON.stringify({ listen, mcpServers: { one: everything } }))
      const { address, said, notes } = await upUntil(/To try/, ['--log-level', level], folder)
      const told = async (pattern: RegExp) => {
        while (!said.some(line => pattern.test(line))) await once(notes, 'line')
      }
      write('{ "mcpServers": { "one": { "comand": "x" } } }')
      await told(/"configuration reloaded".*"ok":false.*comand/)
      write(JSON.stringify({ listen, mcpServers: { one: everything, two: everything } }))
      await told(again)
      expect(said.filter(line => /configuration/.test(line))).toHaveLength(2)
      await using client = await connect(address)
      const names = new Set<string>()
      for await (const { name } of client.tools()) names.add(name.split('__')[0] ?? '')
      expect([...names]).toEqual(['one', 'two'])
    },
  )

  test.each([
    ['a file that is not there', ['no.json'], /no\.json/],
    ['an address that others reach', ['--listen', 'http://0.0.0.0:0/mcp'], /public/],
    ['an address that is none', ['--listen', 'nowhere'], /nowhere/],
  ])('refuses %s', async (_, args, message) => {
    const { code, stderr } = await trunkline(['up', ...args], { cwd: emptyFolder() })
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })
})
