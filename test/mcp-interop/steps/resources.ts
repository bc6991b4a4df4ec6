import type { McpDriver } from '../driver.ts'
import { stateless } from '../driver.ts'
import { always, answered, changing, refused, type Step } from '../outcome.ts'
import { completions, png, resources, texts, uris } from '../surface.js'

/** Waits for one turn of the event loop. */
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

async function touchedText(driver: McpDriver): Promise<unknown> {
  const [content] = await driver.readResource(uris.touched)
  return content?.text
}

const reading: readonly Step[] = [
  {
    name: 'all pages of the resources are listed, in order',
    run: driver => driver.listResources(),
    expected: always(answered(resources)),
  },
  {
    name: 'an unknown cursor is refused',
    run: driver => driver.request('resources/list', { cursor: 'nonsense' }),
    expected: always(refused(-32602)),
  },
  {
    name: 'the resource templates are listed',
    run: driver => driver.listResourceTemplates(),
    expected: always(answered([{ name: 'item', uriTemplate: uris.template }])),
  },
  {
    name: 'a text resource is read',
    run: driver => driver.readResource(uris.text),
    expected: always(answered([{ uri: uris.text, mimeType: 'text/plain', text: texts.resource }])),
  },
  {
    name: 'a blob resource is read',
    run: driver => driver.readResource(uris.binary),
    expected: always(answered([{ uri: uris.binary, mimeType: 'image/png', blob: png }])),
  },
  {
    name: 'a resource from a template is read',
    run: driver => driver.readResource('fixture://items/42'),
    expected: always(answered([{ uri: 'fixture://items/42', text: texts.item('42') }])),
  },
  {
    name: 'a resource that does not exist is refused',
    run: driver => driver.readResource('fixture://nonesuch'),
    expected: changing(refused(-32002), stateless, refused(-32602)),
  },
  {
    name: 'the variable of a template is completed',
    run: driver =>
      driver.complete({ type: 'ref/resource', uri: uris.template }, { name: 'id', value: '1' }),
    expected: always(answered({ values: completions.id('1') })),
  },
]

const news: readonly Step[] = [
  {
    name: 'an added tool is reported and listed',
    async run(driver) {
      const watch = await driver.watch({ tools: true })
      await driver.callTool('grow')
      const change = await watch.next()
      const isListed = (await driver.listTools()).some(({ name }) => name === 'grown')
      await driver.callTool('shrink')
      const another = await watch.next()
      await watch.close()
      return { change, isListed, another }
    },
    expected: always(
      answered({ change: { kind: 'tools' }, isListed: true, another: { kind: 'tools' } }),
    ),
  },
  {
    name: 'a changed resource is reported to subscribers until they unsubscribe',
    async run(driver) {
      const watch = await driver.watch({ resources: [uris.touched] })
      const before = await touchedText(driver)
      await driver.callTool('touch')
      const change = await watch.next()
      const isNew = (await touchedText(driver)) !== before
      await watch.close()
      await driver.callTool('touch')
      // What came before this response is at most still on its way through the client.
      await driver.callTool('echo', { text: 'anything' })
      await turn()
      return { change, isNew, left: watch.waiting }
    },
    expected: always(
      answered({ change: { kind: 'resource', uri: uris.touched }, isNew: true, left: 0 }),
    ),
  },
  {
    name: 'a changed resource without subscribers is not reported',
    async run(driver) {
      const watch = await driver.watch({ resources: [uris.text] })
      await driver.callTool('touch')
      await driver.callTool('echo', { text: 'anything' })
      await turn()
      const { waiting } = watch
      await watch.close()
      return waiting
    },
    expected: always(answered(0)),
  },
]

/** Lists, reads, and change notifications. */
export const resourceSteps: readonly Step[] = [...reading, ...news]
