import { type Progress, stateless } from '../driver.ts'
import { always, answered, changing, refused, type Step } from '../outcome.ts'
import { info, instructions, png, resources, texts, uris, wav } from '../surface.js'

const toolNames = [
  ...['add', 'asks', 'asks-twice', 'asks-url', 'audio', 'cancelled', 'count', 'echo', 'embedded'],
  ...['fails', 'grow', 'image', 'link', 'logs', 'release', 'roots', 'samples', 'shrink', 'throws'],
  ...['touch', 'wait'],
]

/** Line ends inside a string, characters beyond the BMP, and characters that JSON escapes. */
const awkward = 'one\ntwo\r\nthree\u2028four\u0000"\\ żółć 🙂'

const says = (words: string) =>
  answered({ content: [{ type: 'text', text: words }], isError: false })

const base: readonly Step[] = [
  {
    name: 'the server identifies itself',
    run: async ({ server: { name, version, instructions: words } }) => ({ name, version, words }),
    expected: always(answered({ ...info, words: instructions })),
  },
  {
    name: 'the server declares its capabilities',
    run: async ({ server }) => server.capabilities,
    expected: changing(
      answered({
        tools: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        prompts: {},
        logging: {},
      }),
      '2025-03-26',
      answered({ tools: {}, resources: {}, prompts: {}, logging: {}, completions: {} }),
    ),
  },
  {
    name: 'a ping is answered in the revisions that have it',
    run: driver => driver.ping(),
    expected: changing(answered({}), stateless, refused(-32601)),
    misuse: true,
  },
  {
    name: 'a method that does not exist is refused',
    run: driver => driver.request('no/such/method', {}),
    expected: always(refused(-32601)),
    misuse: true,
  },
]

const calls: readonly Step[] = [
  {
    name: 'all tools are listed',
    run: async driver => (await driver.listTools()).map(({ name }) => name).sort(),
    expected: always(answered(toolNames)),
  },
  {
    name: 'a tool is described with its schemas',
    run: async driver => (await driver.listTools()).find(({ name }) => name === 'add'),
    expected: changing(
      answered({ description: 'Adds two numbers', inputSchema: { required: ['a', 'b'] } }),
      '2025-06-18',
      answered({
        title: 'Add',
        annotations: { readOnlyHint: true },
        inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
        outputSchema: { type: 'object', properties: { sum: { type: 'number' } } },
      }),
    ),
  },
  {
    name: 'a tool returns its text',
    run: driver => driver.callTool('echo', { text: 'hello' }),
    expected: always(says('hello')),
  },
  {
    name: 'awkward characters survive both ways',
    run: driver => driver.callTool('echo', { text: awkward }),
    expected: always(says(awkward)),
  },
  {
    name: 'a mebibyte survives both ways',
    async run(driver) {
      const text = 'é'.repeat(1 << 19)
      const { content } = await driver.callTool('echo', { text })
      return content[0]?.text === text
    },
    expected: always(answered(true)),
  },
  {
    name: 'concurrent calls get their own results',
    run: driver =>
      Promise.all(
        Array.from({ length: 50 }, async (_, n) => {
          const { content } = await driver.callTool('echo', { text: `call ${n}` })
          return content[0]?.text
        }),
      ),
    expected: always(answered(Array.from({ length: 50 }, (_, n) => `call ${n}`))),
  },
  {
    name: 'a structured result has its text, too',
    async run(driver) {
      const { content, structured } = await driver.callTool('add', { a: 2, b: 3 })
      return { structured: structured ?? null, text: JSON.parse(String(content[0]?.text)) }
    },
    expected: changing(
      answered({ structured: null, text: { sum: 5 } }),
      '2025-06-18',
      answered({ structured: { sum: 5 }, text: { sum: 5 } }),
    ),
  },
  {
    name: 'wrong arguments are refused, in later revisions as a tool error',
    run: driver => driver.callTool('add', { a: 2, b: 'three' }),
    expected: changing(refused(-32602), '2025-11-25', answered({ isError: true })),
  },
  {
    name: 'a tool that does not exist is refused',
    run: driver => driver.callTool('nonesuch'),
    expected: always(refused(-32602)),
  },
  ...['fails', 'throws'].map(
    (tool): Step => ({
      name: `a tool that ${tool} gives an error result with its words`,
      run: driver => driver.callTool(tool),
      expected: always(
        answered({ content: [{ type: 'text', text: texts.broken }], isError: true }),
      ),
    }),
  ),
]

const whileCalled: readonly Step[] = [
  {
    name: 'progress is reported before the result',
    async run(driver) {
      const reported: unknown[] = []
      const onProgress = ({ progress, total, message }: Progress): void => {
        reported.push([progress, total, message])
        // The tool returns only when released: a client that reads both at once may drop the progress.
        if (progress === total) void driver.callTool('release')
      }
      const { content } = await driver.callTool('count', { to: 3 }, { onProgress })
      return [...reported, content[0]?.text]
    },
    expected: changing(
      answered([...[1, 2, 3].map(n => [n, 3, undefined]), texts.counted(3)]),
      '2025-03-26',
      answered([...[1, 2, 3].map(n => [n, 3, texts.step(n)]), texts.counted(3)]),
    ),
  },
  {
    name: 'a cancelled call stops the tool',
    async run(driver) {
      const giveUp = new AbortController()
      const onProgress = () => giveUp.abort(new Error('no more'))
      const call = driver.callTool('wait', {}, { onProgress, signal: giveUp.signal }).then(
        () => 'answered',
        () => 'rejected',
      )
      return [await call, (await driver.callTool('cancelled')).content[0]?.text]
    },
    expected: always(answered(['rejected', texts.cancelled])),
  },
  {
    name: 'logs are filtered by the requested level',
    async run(driver) {
      await driver.setLogLevel('info')
      const before = driver.logs.length
      await driver.callTool('logs')
      return driver.logs.slice(before).map(({ level, logger, data }) => ({ level, logger, data }))
    },
    expected: always(
      answered(['info', 'warning'].map(level => ({ level, logger: 'fixture', data: { level } }))),
    ),
  },
  {
    name: 'a log level that does not exist is refused',
    run: driver => driver.request('logging/setLevel', { level: 'loud' }),
    expected: changing(refused(-32602), stateless, refused(-32601)),
    misuse: true,
  },
]

/** The content block of a type in the result of a tool; null without one. A substitute is not checked. */
const blockOf =
  (tool: string, kind: string): Step['run'] =>
  async driver =>
    (await driver.callTool(tool)).content.find(({ type }) => type === kind) ?? null

const contents: readonly Step[] = [
  {
    name: 'an image is returned',
    run: blockOf('image', 'image'),
    expected: always(answered({ type: 'image', data: png, mimeType: 'image/png' })),
  },
  {
    name: 'audio is returned, where the revision has it',
    run: blockOf('audio', 'audio'),
    expected: changing(
      answered(null),
      '2025-03-26',
      answered({ type: 'audio', data: wav, mimeType: 'audio/wav' }),
    ),
  },
  {
    name: 'a resource link is returned, where the revision has it',
    run: blockOf('link', 'resource_link'),
    expected: changing(
      answered(null),
      '2025-06-18',
      answered({ type: 'resource_link', ...resources[0] }),
    ),
  },
  {
    name: 'an embedded resource is returned',
    run: blockOf('embedded', 'resource'),
    expected: always(
      answered({ type: 'resource', resource: { uri: uris.text, text: texts.resource } }),
    ),
  },
]

/** The identity of the server, its tools, and what a call returns or sends before its result. */
export const toolSteps: readonly Step[] = [...base, ...calls, ...whileCalled, ...contents]
