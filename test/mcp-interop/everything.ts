import { fileURLToPath } from 'node:url'
import type { Program } from './driver.ts'
import { always, answered, refused, type Step } from './outcome.ts'

/** The reference server of the protocol authors. It speaks the session revisions only. */
export const everythingServer: Program = {
  command: process.execPath,
  args: [
    fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js')),
    'stdio',
  ],
}

const toolNames = [
  ...['echo', 'get-annotated-message', 'get-env', 'get-resource-links', 'get-resource-reference'],
  ...['get-roots-list', 'get-structured-content', 'get-sum', 'get-tiny-image'],
  ...['gzip-file-as-resource', 'simulate-research-query', 'toggle-simulated-logging'],
  ...['toggle-subscriber-updates', 'trigger-elicitation-request', 'trigger-long-running-operation'],
  ...['trigger-sampling-request', 'trigger-url-elicitation'],
]

const document = 'demo://resource/static/document/features.md'
const dynamicText = 'demo://resource/dynamic/text/{resourceId}'

/** Calls a tool and returns the expected parts that its text contains. */
const finds =
  (tool: string, args: object, parts: readonly string[]): Step['run'] =>
  async driver => {
    const { content } = await driver.callTool(tool, args)
    const text = content.map(block => block.text).join('\n')
    return parts.filter(part => text.includes(part))
  }

/** A step that calls a tool whose text contains all of these parts. */
function saying(name: string, tool: string, args: object, parts: readonly string[]): Step {
  return { name, run: finds(tool, args, parts), expected: always(answered(parts)) }
}

const consent = { url: 'https://example.test/', elicitationId: 'one', errorPath: true }

/** Every feature of that server that needs neither the network nor much time. */
export const everything: readonly Step[] = [
  {
    name: 'the server identifies itself',
    run: async ({ server: { name, version, capabilities } }) => ({ name, version, capabilities }),
    expected: always(
      answered({
        name: 'mcp-servers/everything',
        version: '2.0.0',
        capabilities: { resources: { subscribe: true, listChanged: true }, completions: {} },
      }),
    ),
  },
  {
    name: 'a ping is answered',
    run: driver => driver.ping(),
    expected: always(answered({})),
  },
  {
    name: 'the tools are listed, with those that need client capabilities',
    run: async driver => {
      const names = (await driver.listTools()).map(({ name }) => name)
      return toolNames.filter(name => names.includes(name))
    },
    expected: always(answered(toolNames)),
  },
  saying('a text is echoed', 'echo', { message: 'hé\nllo' }, ['Echo: hé\nllo']),
  saying('numbers are added', 'get-sum', { a: 2, b: 3 }, ['The sum of 2 and 3 is 5.']),
  {
    name: 'a structured result is returned',
    run: async driver =>
      (await driver.callTool('get-structured-content', { location: 'Chicago' })).structured,
    expected: always(answered({ temperature: 36, humidity: 82 })),
  },
  {
    name: 'content has annotations',
    run: async driver => {
      const args = { messageType: 'error', includeImage: true }
      return (await driver.callTool('get-annotated-message', args)).content
    },
    expected: always(
      answered([
        { type: 'text', annotations: { priority: 1, audience: ['user', 'assistant'] } },
        { type: 'image', mimeType: 'image/png', annotations: { priority: 0.5 } },
      ]),
    ),
  },
  {
    name: 'resource links are returned',
    run: async driver => (await driver.callTool('get-resource-links', { count: 2 })).content,
    expected: always(
      answered([
        { type: 'text' },
        { type: 'resource_link', uri: 'demo://resource/dynamic/blob/1' },
        { type: 'resource_link', uri: 'demo://resource/dynamic/text/2' },
      ]),
    ),
  },
  {
    name: 'an embedded resource is returned',
    run: async driver => (await driver.callTool('get-resource-reference')).content[1],
    expected: always(
      answered({ type: 'resource', resource: { uri: 'demo://resource/dynamic/text/1' } }),
    ),
  },
  {
    name: 'wrong arguments are a tool error',
    run: driver => driver.callTool('get-sum', { a: 'two' }),
    expected: always(answered({ isError: true })),
  },
  {
    name: 'progress is reported',
    async run(driver) {
      const reported: unknown[] = []
      // Some clients do not report progress that arrives together with the result: the last one always does,
      // and on a busy machine others do as well.
      for (let tries = 0; tries < 20 && reported.length < 2; tries++) {
        reported.length = 0
        await driver.callTool(
          'trigger-long-running-operation',
          { duration: 0.06, steps: 3 },
          { onProgress: ({ progress, total }) => reported.push([progress, total]) },
        )
      }
      return reported.slice(0, 2)
    },
    expected: always(
      answered([
        [1, 3],
        [2, 3],
      ]),
    ),
  },
  {
    name: 'a call is cancelled',
    async run(driver) {
      const giveUp = new AbortController()
      const options = {
        onProgress: () => giveUp.abort(new Error('no more')),
        signal: giveUp.signal,
      }
      const args = { duration: 0.2, steps: 4 }
      return driver.callTool('trigger-long-running-operation', args, options).then(
        () => 'answered',
        () => 'rejected',
      )
    },
    expected: always(answered('rejected')),
  },
  saying('a form is filled in', 'trigger-elicitation-request', {}, ['- Name: Ada', 'accept']),
  {
    name: 'a URL elicitation is required by an error, then requested by the second call',
    async run(driver) {
      const first = await driver.callTool('trigger-url-elicitation', consent).then(
        () => 'answered',
        error => error.code,
      )
      const second = await finds('trigger-url-elicitation', consent, ['User completed'])(driver)
      return [first, second]
    },
    expected: always(answered([-32042, ['User completed']])),
  },
  saying('the model is sampled', 'trigger-sampling-request', { prompt: 'Louder' }, [
    '"model": "a-model"',
    'LOUDER',
  ]),
  saying('the roots are requested', 'get-roots-list', {}, ['file:///work', 'file:///home']),
  {
    name: 'a changed resource is reported, and the subscription logged',
    async run(driver) {
      await driver.setLogLevel('info')
      const watch = await driver.watch({ resources: [document] })
      await driver.callTool('toggle-subscriber-updates')
      const change = await watch.next()
      await driver.callTool('toggle-subscriber-updates')
      await watch.close()
      const isLogged = driver.logs.some(({ data }) => String(data).includes('Received Subscribe'))
      return { change, isLogged }
    },
    expected: always(answered({ change: { kind: 'resource', uri: document }, isLogged: true })),
  },
  {
    name: 'the resources are listed',
    run: async driver => (await driver.listResources()).map(({ uri }) => uri).includes(document),
    expected: always(answered(true)),
  },
  {
    name: 'the templates are listed',
    run: async driver => (await driver.listResourceTemplates()).map(it => it.uriTemplate),
    expected: always(answered([dynamicText, 'demo://resource/dynamic/blob/{resourceId}'])),
  },
  {
    name: 'text and blob resources are read',
    run: async driver => [
      ...(await driver.readResource('demo://resource/dynamic/text/7')),
      ...(await driver.readResource('demo://resource/dynamic/blob/8')),
    ],
    expected: always(
      answered([
        { uri: 'demo://resource/dynamic/text/7', mimeType: 'text/plain' },
        { uri: 'demo://resource/dynamic/blob/8' },
      ]),
    ),
  },
  {
    name: 'a resource that does not exist is refused',
    run: driver => driver.readResource('demo://nonesuch'),
    expected: always(refused(-32602)),
  },
  {
    name: 'the prompts are listed',
    run: async driver => (await driver.listPrompts()).map(({ name }) => name),
    expected: always(
      answered(['simple-prompt', 'args-prompt', 'completable-prompt', 'resource-prompt']),
    ),
  },
  {
    name: 'a prompt with arguments is returned',
    run: driver => driver.getPrompt('args-prompt', { city: 'Poznań', state: 'Wielkopolska' }),
    expected: always(
      answered([{ content: { type: 'text', text: "What's weather in Poznań, Wielkopolska?" } }]),
    ),
  },
  {
    name: 'an argument is completed in the context of the others',
    run: driver =>
      driver.complete(
        { type: 'ref/prompt', name: 'completable-prompt' },
        { name: 'name', value: 'D' },
        { department: 'Sales' },
      ),
    expected: always(answered({ values: ['David'] })),
  },
  {
    name: 'the variable of a template is completed',
    run: driver =>
      driver.complete(
        { type: 'ref/resource', uri: dynamicText },
        { name: 'resourceId', value: '3' },
      ),
    expected: always(answered({ values: ['3'] })),
  },
]
