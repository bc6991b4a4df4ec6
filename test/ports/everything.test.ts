import { join } from 'node:path'
import { test } from 'vitest'
import { root } from '../sources.ts'
import { call, compare, expectKnown, request, type Step } from './compare.ts'
import { knownFor } from './known.ts'
import type { Answers, ProgramOptions, WireMessage } from './program.ts'

function pair(options: Omit<ProgramOptions, 'args'>): [ProgramOptions, ProgramOptions] {
  const original = 'third-party/node_modules/@modelcontextprotocol/server-everything/dist/index.js'
  const start = (program: string) => ({ ...options, args: [join(root, program)] })
  return [start(original), start('examples/ports/everything/main.js')]
}

const complete = (
  ref: { name?: string; uri?: string; type: string },
  name: string,
  value: string,
  context?: object,
): Step =>
  request(`complete ${name} of ${ref.name ?? ref.uri} "${value}"`, 'completion/complete', {
    ref,
    argument: { name, value },
    context,
  })
const prompt = (name: string, args: object): Step =>
  request(`${name} ${JSON.stringify(args)}`, 'prompts/get', { name, arguments: args })
const read = (uri: string): Step => request(`read ${uri}`, 'resources/read', { uri })

/** Turns messages on, of which the first comes at once, or off again. */
function toggle(tool: string, state: 'on' | 'off'): Step {
  return [
    `${tool} ${state}`,
    async program => {
      const params = { name: tool, arguments: {} }
      const { response, sent } = await program.outcome('tools/call', params)
      // On a slow machine the second may have come too.
      return { response, sent: state === 'on' ? sent.slice(0, 1) : [] }
    },
  ]
}

const team = { type: 'ref/prompt', name: 'completable-prompt' }
const template = { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' }
const uri = 'demo://resource/dynamic/text/1'

const steps: readonly Step[] = [
  request('tools/list', 'tools/list'),
  request('resources/list', 'resources/list'),
  request('resources/templates/list', 'resources/templates/list'),
  request('prompts/list', 'prompts/list'),
  request('logging/setLevel', 'logging/setLevel', { level: 'debug' }),
  call('echo', { message: 'hi' }),
  call('echo', {}),
  ...['error', 'success', 'debug', 'other'].map(messageType =>
    call('get-annotated-message', { messageType, includeImage: messageType === 'success' }),
  ),
  call('get-env', {}),
  call('get-resource-links', {}),
  call('get-resource-links', { count: 1 }),
  call('get-resource-links', { count: 11 }),
  call('get-resource-reference', {}),
  call('get-resource-reference', { resourceType: 'Blob', resourceId: 2 }),
  call('get-resource-reference', { resourceType: 'Text', resourceId: 1.5 }),
  ...['New York', 'Chicago', 'Los Angeles', 'Oslo'].map(location =>
    call('get-structured-content', { location }),
  ),
  call('get-sum', { a: 1, b: 2.5 }),
  call('get-sum', { a: '1' }),
  call('get-tiny-image', {}),
  call('gzip-file-as-resource', { name: 'a.gz', data: 'data:text/plain,hello' }),
  call('gzip-file-as-resource', {
    name: 'a.gz',
    data: 'data:text/plain,again',
    outputType: 'resource',
  }),
  call('gzip-file-as-resource', { data: 'ftp://example.com/' }),
  call('gzip-file-as-resource', { data: 'nothing' }),
  request('resources/list with a file', 'resources/list'),
  read('demo://resource/session/a.gz'),
  request('resources/subscribe', 'resources/subscribe', { uri }),
  toggle('toggle-subscriber-updates', 'on'),
  toggle('toggle-subscriber-updates', 'off'),
  request('resources/unsubscribe', 'resources/unsubscribe', { uri }),
  toggle('toggle-simulated-logging', 'on'),
  toggle('toggle-simulated-logging', 'off'),
  call('trigger-long-running-operation', { duration: 0.2, steps: 2 }),
  request('trigger-long-running-operation with progress', 'tools/call', {
    name: 'trigger-long-running-operation',
    arguments: { duration: 0.2, steps: 2 },
    _meta: { progressToken: 'p' },
  }),
  read('demo://resource/static/document/startup.md'),
  read(uri),
  read('demo://resource/dynamic/blob/7'),
  read('demo://resource/dynamic/text/x'),
  read('demo://resource/none'),
  prompt('simple-prompt', {}),
  prompt('args-prompt', { city: 'Oslo' }),
  prompt('args-prompt', { city: 'Austin', state: 'Texas' }),
  prompt('args-prompt', {}),
  prompt('completable-prompt', { department: 'Sales', name: 'Eve' }),
  prompt('resource-prompt', { resourceType: 'Text', resourceId: '1' }),
  prompt('resource-prompt', { resourceType: 'Blob', resourceId: '2' }),
  prompt('resource-prompt', { resourceType: 'Blob', resourceId: 'x' }),
  prompt('resource-prompt', { resourceType: 'Film', resourceId: '1' }),
  prompt('none', {}),
  complete(team, 'department', 'S'),
  complete(team, 'name', '', { arguments: { department: 'Sales' } }),
  complete(team, 'name', 'A', { arguments: { department: 'Engineering' } }),
  complete(team, 'name', ''),
  complete({ type: 'ref/prompt', name: 'resource-prompt' }, 'resourceType', 'T'),
  complete({ type: 'ref/prompt', name: 'resource-prompt' }, 'resourceId', '1'),
  complete({ type: 'ref/prompt', name: 'args-prompt' }, 'city', 'O'),
  complete({ type: 'ref/prompt', name: 'none' }, 'city', 'O'),
  complete(template, 'resourceId', '12'),
  complete(template, 'resourceId', 'x'),
]

test('the everything server and its port, for a client without capabilities', async () => {
  expectKnown(await compare(...pair({}), steps, normalize), knownFor('everything'))
})

const form = {
  name: 'Ada',
  check: true,
  firstLine: 'Once',
  email: 'ada@example.com',
  homepage: 'https://example.com',
  birthdate: '1815-12-10',
  integer: 7,
  number: 1.5,
  untitledSingleSelectEnum: 'Joey',
  untitledMultipleSelectEnum: ['Piano'],
  titledSingleSelectEnum: 'hero-2',
  titledMultipleSelectEnum: ['fish-2'],
  legacyTitledEnum: 'pet-2',
}
const message = { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'm' }

/** What the user does next; each program takes its own copy of the list. */
const actions = [
  { action: 'accept', content: form },
  { action: 'accept', content: { name: 'Ada' } },
  { action: 'decline' },
  { action: 'cancel' },
]

const pages = [
  { action: 'accept' },
  { action: 'accept' },
  { action: 'decline' },
  { action: 'cancel' },
  { action: 'accept' },
]

function answers(): Answers {
  const next = [...actions, ...pages]
  const taskOf = ({ task }: WireMessage) => task !== undefined
  return {
    'roots/list': () => ({
      result: { roots: [{ uri: 'file:///a', name: 'a' }, { uri: 'file:///b' }] },
    }),
    'sampling/createMessage': params =>
      taskOf(params) ? { result: { task: clientTask } } : { result: message },
    'elicitation/create': params => {
      if (taskOf(params)) return { result: { task: { ...clientTask, taskId: 'form' } } }
      return { result: next.shift() ?? { action: 'accept', content: { interpretation: 'snake' } } }
    },
    'tasks/result': ({ taskId }) =>
      taskId === 'form'
        ? { result: { action: 'accept', content: { name: 'Ada', favoriteColor: 'Red' } } }
        : { result: message },
  }
}
const clientTask = {
  taskId: 'sample',
  status: 'completed',
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttl: 1000,
}

const capabilities = {
  roots: { listChanged: true },
  sampling: {},
  elicitation: { form: {}, url: {} },
  tasks: { requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
}

/** Runs the research as a task, and reads what the task leaves. */
const research = (args: object): Step => [
  `research ${JSON.stringify(args)}`,
  async program => {
    const before = program.received.length
    const params = { name: 'simulate-research-query', arguments: args, task: { ttl: 300_000 } }
    const created = await program.request('tools/call', params)
    const { taskId } = taskIn(created)
    const result = await program.request('tasks/result', { taskId })
    const task = await program.request('tasks/get', { taskId })
    const list = await program.request('tasks/list')
    const cancelled = await program.request('tasks/cancel', { taskId })
    const sent = program.received.slice(before)
    const asked = sent.filter(({ method }) => method === 'elicitation/create')
    // A status may be sent again, and does not wait for a request.
    const said = sent.flatMap(({ params }) => statusIn(params) ?? []).map(status => [status, true])
    return { created, result, task, list, cancelled, asked, said: Object.fromEntries(said) }
  },
]

function statusIn(params: unknown): string | undefined {
  // The check: any object may have these members.
  const { status, statusMessage } = params as { status?: string; statusMessage?: string }
  return status && `${status}: ${statusMessage}`
}

const cancelledResearch: Step = [
  'research that is cancelled',
  async program => {
    const params = { name: 'simulate-research-query', arguments: { topic: 'x' }, task: {} }
    const { taskId } = taskIn(await program.request('tools/call', params))
    const cancelled = await program.request('tasks/cancel', { taskId })
    const result = await program.request('tasks/result', { taskId })
    return { cancelled, result }
  },
]

function taskIn(response: WireMessage): { readonly taskId: string } {
  // The check: a member that is missing fails the test here.
  const { task } = response.result as { task: { taskId: string } }
  return task
}

const page = { url: 'https://example.com/', elicitationId: 'e' }

const asking: readonly Step[] = [
  ['the roots', async program => (await program.messages('notifications/message', 1)).at(0)],
  ['the request for them', program => program.messages('roots/list', 1)],
  request('tools/list', 'tools/list'),
  call('get-roots-list', {}),
  [
    'other roots',
    async program => {
      program.send({ method: 'notifications/roots/list_changed' })
      return (await program.messages('notifications/message', 2)).at(1)
    },
  ],
  ...actions.map(({ action, content }) =>
    call('trigger-elicitation-request', {}, `${action} ${JSON.stringify(content)}`),
  ),
  ...actions.map(({ action }) => call('trigger-url-elicitation', page, action)),
  call('trigger-url-elicitation', { url: 'no' }),
  call('trigger-url-elicitation', { ...page, errorPath: true }),
  call('trigger-url-elicitation', { ...page, errorPath: true }, 'again'),
  call('trigger-sampling-request', { prompt: 'Hi' }),
  call('trigger-sampling-request', { prompt: 'Hi', maxTokens: 5 }),
  call('trigger-sampling-request-async', { prompt: 'Hi' }),
  call('trigger-elicitation-request-async', {}),
  call('simulate-research-query', { topic: 'x' }, 'without a task'),
  research({ topic: 'MCP' }),
  research({ topic: 'Python', ambiguous: true }),
  cancelledResearch,
  request('an unknown task', 'tasks/get', { taskId: 'none' }),
]

test('the everything server and its port, for a client with all capabilities', async () => {
  const [original, port] = pair({ capabilities })
  const found = await compare(
    { ...original, answers: answers() },
    { ...port, answers: answers() },
    asking,
    normalize,
  )
  expectKnown(found, knownFor('everything, capable client'))
})

/** What depends on the time or on chance. */
function normalize(text: string): string {
  return text
    .replaceAll(/"blob":"(UmVz[^"]*)"/g, (_, blob) => `"blob":"${Buffer.from(blob, 'base64')}"`)
    .replaceAll(/created at [^"\\]*/g, 'created at TIME')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/[0-9a-f]{32,}/g, 'TASK')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replaceAll(
      /"level":"\w+","data":"\w+[ -]level[ -]message/g,
      '"level":"LEVEL","data":"LEVEL message',
    )
}
