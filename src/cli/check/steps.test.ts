import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseAddress } from '../../address.ts'
import { listen } from '../../listen.ts'
import { Server } from '../../server/server.ts'
import { CheckContext, type CheckOptions } from './context.ts'
import { runSteps, type StepReport, steps } from './steps.ts'

function makeServer(): Server {
  const server = new Server({ name: 'checked', version: '1.0.0' }, { pageSize: 2 })
  const input = { type: 'object', properties: { city: { type: 'string' } } } as const
  for (const name of ['first', 'second', 'third']) {
    server.tool(name, { description: `The ${name} tool.`, input }, () => 'done')
  }
  server.resource('notes', 'notes://all', {}, () => 'none')
  server.prompt('report', { description: 'Writes a report.' }, () => 'Write a report.')
  return server
}

async function check(address: string, options: Partial<CheckOptions> = {}) {
  const { signal } = new AbortController()
  const context = new CheckContext({ where: parseAddress(address), signal, ...options })
  onTestFinished(() => context.close())
  const reported: string[] = []
  const reports = await runSteps(context, steps, report => void reported.push(report.step))
  expect(reported).toEqual(steps.map(({ name }) => name))
  return reports
}

function statusOf(reports: readonly StepReport[], name: string) {
  const report = reports.find(({ step }) => step === name)
  return { status: report?.status, messages: report?.findings.map(({ message }) => message) }
}

describe.each([
  ['http://127.0.0.1:0/mcp', 'ok'],
  ['tcp://127.0.0.1:0', 'not applicable'],
  ['ws://127.0.0.1:0/mcp', 'not applicable'],
])('a server at %s', (address, http) => {
  test('passes every step that applies', async () => {
    const server = makeServer()
    onTestFinished(() => server.close())
    const listener = await listen(server, address)
    onTestFinished(() => listener.close())
    const reports = await check(listener.address)
    const wrong = reports.filter(({ status }) => status === 'fail' || status === 'warn')
    expect(wrong).toEqual([])
    expect(statusOf(reports, 'http').status).toBe(http)
    expect(statusOf(reports, 'handshake').status).toBe('ok')
    expect(statusOf(reports, 'lists').status).toBe('ok')
    expect(statusOf(reports, 'tls')).toEqual({
      status: 'not applicable',
      messages: ['the connection is not encrypted'],
    })
    expect(statusOf(reports, 'shutdown').status).toBe('not applicable')
  })
})

test.each(['session', 'stateless'] as const)('one era alone is checked: %s', async era => {
  const server = makeServer()
  onTestFinished(() => server.close())
  const listener = await listen(server, 'http://127.0.0.1:0/mcp')
  onTestFinished(() => listener.close())
  const reports = await check(listener.address, { era })
  expect(reports.filter(({ status }) => status === 'fail')).toEqual([])
})

test('a path without an endpoint blocks the steps after it', async () => {
  const server = makeServer()
  onTestFinished(() => server.close())
  const listener = await listen(server, 'http://127.0.0.1:0/mcp')
  onTestFinished(() => listener.close())
  const reports = await check(listener.address.replace('/mcp', '/elsewhere'))
  expect(statusOf(reports, 'http').status).toBe('fail')
  expect(reports.find(({ step }) => step === 'handshake')?.tried).toBe(false)
})

test('a socket that does not exist is named, with the next step', async () => {
  const path = join(tmpdir(), 'trunkline-no-such.sock')
  const [reach] = await check(`unix:${path}`)
  expect(reach?.findings).toEqual([
    {
      status: 'fail',
      message: `the socket ${path} does not exist`,
      advice: 'Start the server, and check that both use the same path.',
    },
  ])
})

test('a program that does not exist is named', async () => {
  const command = join(tmpdir(), 'trunkline-no-such-program')
  const [reach] = await check('stdio:', { where: { kind: 'child', command: { command } } })
  expect(reach?.findings[0]?.message).toBe(`"${command}" does not exist`)
})
