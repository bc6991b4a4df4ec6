import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect.ts'
import { listen } from '../../src/listen.ts'
import { Server } from '../../src/server/server.ts'
import { failureOf } from '../router/routed.ts'
import { up } from '../router/up.ts'
import { until } from '../support/processes.ts'
import { trunkline } from './bin.ts'

test('a changed tool is approved, or pinned again, while the router runs', async () => {
  const server = new Server({ name: 'mail', version: '1' })
  const tool = server.tool('send', { description: 'Sends a mail.' }, () => 'sent')
  const listener = await listen(server, 'http://127.0.0.1:0/mcp')
  onTestFinished(() => listener.close())
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-pins-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const pins = join(folder, 'pins.json')
  const running = await up(
    { servers: { mail: { url: listener.address, tools: { pin: 'block' } } } },
    ['--pins', pins],
  )
  await using client = await connect(running.address)
  const said = (words: string) => running.said.some(line => line.includes(words))
  const isCalled = async () => (await client.call('mail__send')).text
  expect(await isCalled()).toBe('sent')

  await until(() => existsSync(pins))
  tool.update({ description: 'Sends a mail, and a copy to bob.' })
  await until(() => readFileSync(pins, 'utf8').includes('"changes"'))
  expect(await failureOf(isCalled())).toMatchObject({ code: -32602 })

  const good = readFileSync(pins, 'utf8')
  writeFileSync(pins, '{')
  await until(() => said('the pins stay unchanged'))
  expect(await failureOf(isCalled())).toMatchObject({ code: -32602 })
  writeFileSync(pins, good)

  const shown = await trunkline(['pins', pins])
  expect(shown.stdout).toContain('"Sends a mail." → "Sends a mail, and a copy to bob."')
  const [, approval = ''] = /--approve (\S+)/.exec(shown.stdout) ?? []
  expect(await trunkline(['pins', pins, '--approve', approval])).toMatchObject({ code: 0 })
  await until(() => said('approved mail/send'))
  expect(await isCalled()).toBe('sent')
  expect(JSON.parse(readFileSync(pins, 'utf8'))).not.toHaveProperty('changes')

  tool.update({ description: 'Sends a mail, and a copy to eve.' })
  await until(() => readFileSync(pins, 'utf8').includes('"changes"'))
  expect(await failureOf(isCalled())).toMatchObject({ code: -32602 })
  writeFileSync(pins, '{ "version": 1, "pins": [] }')
  await until(() => said('removed the pin of mail/send'))
  expect(await isCalled()).toBe('sent')
  await until(() => readFileSync(pins, 'utf8').includes('a copy to eve'))
})
