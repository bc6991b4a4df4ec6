// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables look like that
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bearer } from '../../src/auth/index.ts'
import { connect } from '../../src/connect.ts'
import { listen } from '../../src/listen.ts'
import { pollOptions } from '../support/poll-options.ts'
import { isAlive } from '../support/processes.ts'
import { zipOf } from '../support/zip.ts'
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
  test('is not ready before it refuses connections', async () => {
    const args = ['--listen', 'http://127.0.0.1:0/mcp', '--lame-duck', '20s']
    const { child, address } = await upUntil(/readyz/, args, emptyFolder())
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    const status = async () => (await fetch(new URL('/readyz', address))).status
    await expect.poll(status, pollOptions).toBe(503)
    const called = await trunkline(['call', address, 'text__count', 'text=one two three'])
    expect(called.stdout).toMatch(/^3 words/)
    // The second signal ends it at once.
    child.kill('SIGTERM')
    await exit
  })

  test('serves two demo servers without a configuration, and leaves no process behind', async () => {
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

  test('is a server on stdio', async () => {
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
    ['warn', /^configuration reloaded: added two$/],
  ])('reloads a changed file, and reports it once, at level %s', async (level, again) => {
    const folder = emptyFolder()
    const file = join(folder, 'trunkline.json')
    const write = (text: string) => {
      writeFileSync(`${file}.new`, text)
      renameSync(`${file}.new`, file)
    }
    const listen = 'http://127.0.0.1:0/mcp'
    write(JSON.stringify({ listen, mcpServers: { one: everything } }))
    const { address, said, notes } = await upUntil(/^Try:/, ['--log-level', level], folder)
    const noted = async (pattern: RegExp) => {
      while (!said.some(line => pattern.test(line))) await once(notes, 'line')
    }
    write(JSON.stringify({ listen, mcpServers: { one: everything }, comand: 'x' }))
    await noted(/"configuration reloaded".*"ok":false.*comand/)
    write(JSON.stringify({ listen, mcpServers: { one: everything, two: everything } }))
    await noted(again)
    expect(said.filter(line => /configuration/.test(line))).toHaveLength(2)
    await using client = await connect(address)
    const names = new Set<string>()
    for await (const { name } of client.tools()) names.add(name.split('__')[0] ?? '')
    expect([...names]).toEqual(['one', 'two'])
  })

  test('serves the other servers if one is invalid, and says why it is not served', async () => {
    const folder = emptyFolder()
    const bad = { command: 'x', env: { KEY: '${TRUNKLINE_TEST_UNSET}' } }
    const mcpServers = { 'My Files': everything, bad, worse: { url: 'nowhere' } }
    writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers }))
    const listen = ['--listen', 'http://127.0.0.1:0/mcp']
    const { lines, said, address } = await upUntil(/^Try:/, listen, folder)
    expect(lines.find(line => line.includes('My_Files'))).toMatch(/^ {2}✓ My_Files \(\d+ tools\)$/)
    expect(lines.find(line => line.includes('bad'))).toMatch(
      /^ {2}✗ bad \(0 tools: .*_UNSET is not set/,
    )
    expect(lines.find(line => line.includes('worse'))).toMatch(
      /^ {2}✗ worse \(0 tools: .*not an address/,
    )
    expect(said.some(line => /^mcp\.json:1:\d+: .*_UNSET is not set/.test(line))).toBe(true)
    const ready = await (await fetch(new URL('/readyz', address))).json()
    const { servers } = ready as { servers: unknown }
    expect(servers).toMatchObject([
      { name: 'My_Files', level: 'ok' },
      { name: 'bad', level: 'down', reason: expect.stringContaining('is not set') },
      { name: 'worse', level: 'down' },
    ])
    await using client = await connect(address)
    const { _meta } = (await client.request('tools/list', {})) as { _meta?: object }
    expect(JSON.stringify(_meta)).toMatch(/"bad".*its configuration is invalid: .*is not set/)
  })

  test('rejects a file with an invalid server with --strict', async () => {
    const folder = emptyFolder()
    const mcpServers = { good: everything, bad: { url: 'nowhere' } }
    writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers }))
    const strict = await trunkline(['up', '--strict', '--dry-run'], { cwd: folder })
    expect([strict.code, strict.stdout]).toEqual([2, ''])
    const { code, stdout } = await trunkline(['up', '--dry-run'], { cwd: folder })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^mcp\.json: 1 of 2 invalid\n.*\n {2}good\n {2}✗ bad \(.*not an address/)
  })

  test('shows how the terms of another host are translated', async () => {
    const folder = emptyFolder()
    const mcpServers = { 'a b': { serverUrl: 'http://127.0.0.1:1/mcp', autoApprove: [] } }
    writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers }))
    const { stdout, stderr } = await trunkline(['up', '--dry-run'], { cwd: folder })
    expect(stdout).toContain('  a_b\n')
    expect(stderr).toMatch(/note: server "a b" is named a_b here/)
    expect(stderr).toMatch(/note: mcpServers\["a b"\]\.serverUrl is taken as url/)
    expect(stderr).toMatch(/warning: mcpServers\["a b"\]\.autoApprove .*ignored/)
  })

  test('finds the files of hosts, and serves those of the user only if asked', async () => {
    const folder = emptyFolder()
    const home = emptyFolder()
    const put = (base: string, name: string, server: string) => {
      mkdirSync(join(base, '.cursor'), { recursive: true })
      const mcpServers = { [server]: everything, bad: { url: 'nowhere' } }
      writeFileSync(join(base, name), JSON.stringify({ mcpServers }))
    }
    put(folder, '.cursor/mcp.json', 'here')
    put(home, '.cursor/mcp.json', 'there')
    const context = { cwd: folder, env: { HOME: home, USERPROFILE: home } }
    const listed = await trunkline(['hosts'], context)
    expect(listed.stdout).toMatch(
      /\.cursor.mcp\.json \(Cursor, project\)\n {2}✓ here\n {2}✗ bad \(/,
    )
    expect(listed.stdout).toMatch(/\.cursor.mcp\.json \(Cursor, user\)\n {2}✓ there\n/)
    const served = async (...args: string[]) => {
      const { stdout } = await trunkline(['up', '--dry-run', '--json', ...args], context)
      return (JSON.parse(stdout) as { servers: readonly string[] }).servers
    }
    expect(await served()).toEqual(['here'])
    expect(await served('--hosts', 'project')).toEqual(['here'])
    // The two servers are equal, so one of them is enough.
    expect(await served('--hosts', 'all')).toEqual(['here'])
    expect(await served('--hosts', 'user')).toEqual(['there'])
    // A file that nobody named does not keep the others from being served.
    mkdirSync(join(folder, '.roo'))
    writeFileSync(join(folder, '.roo', 'mcp.json'), '{')
    expect(await served('--hosts', 'project')).toEqual(['here'])
    const strict = await trunkline(['up', '--dry-run', '--hosts', 'project', '--strict'], context)
    expect(strict.code).toBe(2)
  })

  test('runs a bundle as a server, with settings from the environment', async () => {
    const folder = emptyFolder()
    const file = pathToFileURL(fixture('../fixtures/everything-stdio.js')).href
    const mcp_config = {
      command: process.execPath,
      args: ['${__dirname}/main.mjs', '${user_config.key}'],
    }
    const manifest = {
      manifest_version: '0.2',
      name: 'bundled',
      server: { type: 'node', entry_point: 'main.mjs', mcp_config },
      user_config: { key: { type: 'string', title: 'Key', required: true } },
    }
    const archive = zipOf([
      { name: 'manifest.json', content: JSON.stringify(manifest) },
      {
        name: 'main.mjs',
        content: `if (process.argv.splice(2)[0] === 'k') await import('${file}')`,
      },
    ])
    writeFileSync(join(folder, 'all.mcpb'), archive)
    const home = { HOME: folder, USERPROFILE: folder, LOCALAPPDATA: folder, XDG_CACHE_HOME: folder }
    const unset = await trunkline(['up', 'all.mcpb', '--dry-run'], { cwd: folder, env: home })
    expect(unset.stdout).toMatch(/✗ bundled \(.*set the environment variable INPUT_KEY/)
    const env = { ...home, INPUT_KEY: 'k' }
    const listed = await trunkline(['list', 'all.mcpb', 'tools'], { cwd: folder, env })
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining('test_simple_text')])
    const served = await trunkline(['up', 'all.mcpb', '--dry-run'], { cwd: folder, env })
    expect(served.stdout).toContain('all.mcpb: valid\n')
  })

  test('reports new addresses, and settings that need a restart', async () => {
    const folder = emptyFolder()
    const file = join(folder, 'trunkline.json')
    const config = { listen: 'http://127.0.0.1:0/mcp', mcpServers: { one: everything } }
    writeFileSync(file, JSON.stringify(config))
    const { said, notes } = await upUntil(/^Try:/, [], folder)
    const listen = 'tcp://127.0.0.1:0'
    writeFileSync(file, JSON.stringify({ ...config, listen, name: 'other' }))
    const noted = async (pattern: RegExp) => {
      while (!said.some(line => pattern.test(line))) await once(notes, 'line')
    }
    await noted(/"event":"serving","addresses":\["tcp:/)
    await noted(/"event":"settings need a restart","settings":\["name"\]/)
  })

  test('names the servers that are still starting', async () => {
    const folder = emptyFolder()
    const slow = { command: process.execPath, args: ['-e', 'process.stdin.resume()'] }
    const mcpServers = { slow, one: everything }
    writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers }))
    const child = start(['up', '--listen', 'tcp://127.0.0.1:0'], { cwd: folder })
    onTestFinished(() => void child.kill('SIGKILL'))
    // On a slow machine the other server is named too.
    const isNote = (line: string) =>
      /^Serving tcp:\/\/127\.0\.0\.1:0; still starting: slow(?:, one)?$/.test(line)
    const said = createInterface({ input: child.stderr })
    for await (const line of said) if (isNote(line)) break
    child.stderr.resume()
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  test('starts no program if its address is in use', async () => {
    const folder = emptyFolder()
    await using taken = await listen({}, 'http://127.0.0.1:0/mcp', { protocol: 'jsonrpc' })
    const args = ['-e', 'require("node:fs").writeFileSync("started", "")']
    const mcpServers = { one: { command: process.execPath, args } }
    const file = join(folder, 'trunkline.json')
    writeFileSync(file, JSON.stringify({ listen: taken.address, mcpServers }))
    const { code, stdout, stderr } = await trunkline(['up'], { cwd: folder })
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).toContain(`trunkline: listening on ${taken.address}: already in use\n`)
    expect(existsSync(join(folder, 'started'))).toBe(false)
  })

  test.each(process.platform === 'win32' ? [] : ['SIGHUP' as const])(
    'retries quarantined servers on %s',
    async signal => {
      const folder = emptyFolder()
      const script =
        'require("node:fs").existsSync("well") ? import(process.argv[1]) : process.exit(3)'
      const args = ['-e', script, ...everything.args]
      const sick = { command: process.execPath, args, restart: false }
      writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { sick } }))
      const listen = ['--listen', 'http://127.0.0.1:0/mcp']
      const { child, lines, said, notes } = await upUntil(/sick/, listen, folder)
      expect(lines[1]).toMatch(/^ {2}✗ sick \(0 tools: .*exited with code 3/)
      writeFileSync(join(folder, 'well'), '')
      child.kill(signal)
      while (!said.some(line => /"instance started"/.test(line))) await once(notes, 'line')
    },
  )

  test.each([
    [
      ['--json'],
      /"addresses": \[\s+"tcp:\/\/127\.0\.0\.1:4000"\s+\],\s+"servers": \[\s+"one"\s+\]/,
    ],
    [[], /^trunkline\.json: valid\nWould serve tcp:\/\/127\.0\.0\.1:4000\n {2}one\n$/],
  ])('only validates the configuration with --dry-run %j', async (args, shown) => {
    const folder = emptyFolder()
    const mcpServers = {
      one: { command: 'no-such-program' },
      two: { ...everything, disabled: true },
    }
    const config = { listen: 'tcp://127.0.0.1:4000', mcpServers }
    writeFileSync(join(folder, 'trunkline.json'), JSON.stringify(config))
    const good = await trunkline(['up', '--dry-run', ...args], { cwd: folder })
    expect([good.code, good.stderr]).toEqual([0, ''])
    expect(good.stdout).toMatch(shown)
    writeFileSync(join(folder, 'trunkline.json'), '{ "mcpServers": 12 }')
    const bad = await trunkline(['up', '--dry-run', ...args], { cwd: folder })
    expect([bad.code, bad.stdout + bad.stderr]).toEqual([2, expect.stringContaining(':1:17: ')])
  })

  test('serves views at addresses of their own, or one view alone', async () => {
    const folder = emptyFolder()
    const listen = 'http://127.0.0.1:0/mcp'
    const few = { tools: { allow: ['all__test_*'] }, listen: 'http://localhost:0/mcp' }
    const views = { few, none: { servers: ['al'] } }
    const config = { mcpServers: { all: everything }, listen, views }
    writeFileSync(join(folder, 'trunkline.json'), JSON.stringify(config))
    const toolsAt = async (address: string) => {
      await using client = await connect(address)
      return (await client.request('tools/list', {})).tools.length
    }
    const { lines, said, address } = await upUntil(/^Try:/, [], folder)
    const [, other = ''] = /Serving (\S+) \(view few\)/.exec(lines.join('\n')) ?? []
    expect(await toolsAt(other)).toBeLessThan(await toolsAt(address))
    expect(said[0]).toContain('there is no server "al"')
    const alone = await upUntil(/^Try:/, ['--view', 'few'], folder)
    expect(await toolsAt(alone.address)).toBe(await toolsAt(other))
    expect(alone.lines.join('\n').match(/Serving/g)).toHaveLength(1)
    const unknown = await trunkline(['up', '--view', 'fewer'], { cwd: folder })
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringContaining('there is no view "fewer"; the views are few, none'),
    ])
  })

  test('warns about fields without effect, with their position', async () => {
    const folder = emptyFolder()
    const mcpServers = { one: { ...everything, autoApprove: [] } }
    writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers }))
    const { said } = await upUntil(/^Try:/, ['--listen', 'http://127.0.0.1:0/mcp'], folder)
    expect(said[0]).toMatch(/^mcp\.json:1:\d+: warning: mcpServers\.one\.autoApprove is decided by/)
  })

  test.each([
    ['a missing file', ['no.json'], /no\.json/],
    ['a public address', ['--listen', 'http://0.0.0.0:0/mcp'], /public/],
    ['an invalid address', ['--listen', 'nowhere'], /nowhere/],
    [
      'a pin file that cannot be written',
      ['--pins', 'no/such/pins.json'],
      /the folder .*such is not writable/,
    ],
  ])('rejects %s', async (_, args, message) => {
    const { code, stderr } = await trunkline(['up', ...args], { cwd: emptyFolder() })
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })
})

describe('up with an access policy', () => {
  test('applies and records it, and a changed file at once', async () => {
    const folder = emptyFolder()
    const [keys, policy, audit] = ['keys.json', 'policy.jsonc', 'audit.jsonl'].map(name =>
      join(folder, name),
    ) as [string, string, string]
    const made = await trunkline(['keys', 'new', 'ada', '--file', keys])
    const save = (value: object) => {
      writeFileSync(`${policy}.new`, JSON.stringify(value))
      renameSync(`${policy}.new`, policy)
    }
    save({ default: 'deny', rules: [{ name: 'greeting', allow: ['*__test_simple_text'] }] })
    const config = { mcpServers: { every: everything }, auth: { apiKeys: keys }, policy }
    writeFileSync(join(folder, 'trunkline.json'), JSON.stringify(config))
    const args = ['--listen', 'http://127.0.0.1:0/mcp', '--audit', audit]
    const { child, address } = await upUntil(/readyz/, args, folder)
    const client = await connect(address, { auth: bearer(made.stdout.trim()) })
    onTestFinished(() => client.close())
    const names = async () => {
      const found: string[] = []
      for await (const { name } of client.tools({ fresh: true })) found.push(name)
      return found
    }
    expect(await names()).toEqual(['every__test_simple_text'])
    save({ default: 'deny', rules: [{ name: 'nothing' }] })
    await expect
      .poll(() => readFileSync(audit, 'utf8'), pollOptions)
      .toContain('"outcome":"rejected"')
    expect(await names()).toEqual(['every__test_simple_text'])
    save({ default: 'deny', rules: [] })
    await expect.poll(names, pollOptions).toEqual([])
    await expect(client.call('every__test_simple_text')).rejects.toMatchObject({
      kind: 'tool_not_found',
    })
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    await exit
    const verified = await trunkline(['audit', 'verify', audit, '--json'])
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, lines: 4 })
    expect(readFileSync(audit, 'utf8')).not.toContain(made.stdout.trim().slice(13))
  })
})
