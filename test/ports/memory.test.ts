import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { root } from '../sources.ts'
import { call, compare, expectKnown, request, type Step } from './compare.ts'
import { knownFor } from './known.ts'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-memory-'))
const start = (program: string) => ({
  args: [join(root, program)],
  env: { MEMORY_FILE_PATH: join(folder, `${program.replaceAll('/', '-')}.jsonl`) },
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ada = { name: 'Ada', entityType: 'person', observations: ['writes'] }
const engine = { name: 'Engine', entityType: 'machine', observations: [] }
const uses = { from: 'Ada', to: 'Engine', relationType: 'uses' }
const uri = 'memory://knowledge-graph'

const steps: readonly Step[] = [
  request('tools/list', 'tools/list'),
  request('resources/list', 'resources/list'),
  request('resources/templates/list', 'resources/templates/list'),
  request('prompts/list', 'prompts/list'),
  call('read_graph', {}),
  call('create_entities', { entities: [ada, engine] }),
  request('subscribe', 'resources/subscribe', { uri }),
  call('create_entities', { entities: [ada] }, 'again'),
  call('create_relations', { relations: [uses, uses] }),
  call('add_observations', { observations: [{ entityName: 'Ada', contents: ['writes', 'x'] }] }),
  call('add_observations', { observations: [{ entityName: 'Bob', contents: [] }] }),
  call('search_nodes', { query: 'ENG' }),
  call('open_nodes', { names: ['Ada', 'Bob'] }),
  request('read', 'resources/read', { uri }),
  call('delete_observations', { deletions: [{ entityName: 'Ada', observations: ['x'] }] }),
  call('delete_relations', { relations: [uses] }),
  call('delete_entities', { entityNames: ['Ada'] }),
  request('unsubscribe', 'resources/unsubscribe', { uri }),
  call('delete_entities', { entityNames: ['Bob'] }),
  call('read_graph', {}, 'in the end'),
  call('create_entities', {}),
  call('search_nodes', { query: 1 }),
  call('read_graph', { depth: 1 }),
  call('read_graph', undefined, 'without arguments'),
  call('forget', {}),
  request('read an unknown resource', 'resources/read', { uri: 'memory://nothing' }),
  request('subscribe to an unknown one', 'resources/subscribe', { uri: 'memory://nothing' }),
  request('an unknown method', 'memory/forget'),
  request('complete', 'completion/complete', {
    ref: { type: 'ref/resource', uri },
    argument: { name: 'a', value: '' },
  }),
  request('set a log level', 'logging/setLevel', { level: 'debug' }),
]

test('the memory server and its port', async () => {
  const found = await compare(
    start('third-party/node_modules/@modelcontextprotocol/server-memory/dist/index.js'),
    start('examples/ports/memory/server.js'),
    steps,
  )
  expectKnown(found, knownFor('memory'))
})
