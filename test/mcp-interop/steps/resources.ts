import type { McpDriver } from '../driver.ts'
import { stateless } from '../driver.ts'
import { always, answered, changing, refused, type Step } from '../outcome.ts'
import { completions, png, resources, texts, uris } from '../surface.js'

/** Lets everything run that is ready to. */
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
    name: 'a cursor that nobody gave out is refused',
    run: driver => driver.request('resources/list', { cursor: 'nonsense' }),
    expected: always(refused(-32602)),
  },
  {
    name: 'the templates of resources are listed',
    run: driver => driver.listResourceTemplates(),
    expected: always(answered([{ name: 'item', uriTemplate: uris.template }])),
  },
  {
    name: 'a resource of text is read',
    run: driver => driver.readResource(uris.text),
    expected: always(answered([{ uri: uris.text, mimeType: 'text/plain', text: texts.resource }])),
  },
  {
    name: 'a resource of bytes is read',
    run: driver => driver.readResource(uris.binary),
    expected: always(answered([{ uri: uris.binary, mimeType: 'image/png', blob: png }])),
  },
  {
    name: 'a resource of a template is read',
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
    name: 'a tool that appears is told of, and listed',
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
    name: 'a resource that changes is told of to those who asked, until they ask no more',
    async run(driver) {
      const watch = await driver.watch({ resources: [uris.touched] })
      const before = await touchedText(driver)
      await driver.callTool('touch')
      const change = await watch.next()
      const isNew = (await touchedText(driver)) !== before
      await watch.close()
      await driver.callTool('touch')
      // What came before this answer is on its way through the client, at the most.
      await driver.callTool('echo', { text: 'anything' })
      await turn()
      return { change, isNew, left: watch.waiting }
    },
    expected: always(
      answered({ change: { kind: 'resource', uri: uris.touched }, isNew: true, left: 0 }),
    ),
  },
  {
    name: 'a resource that nobody asked about changes in silence',
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

/** Lists, reads, and news of changes. */
export const resourceSteps: readonly Step[] = [...reading, ...news]
