// @ts-check
// The server @modelcontextprotocol/server-memory with Trunkline: a knowledge graph that clients can follow.

import { Server, serve } from 'trunkline'
import * as z from 'zod'
import { KnowledgeGraph } from './graph.js'

const uri = 'memory://knowledge-graph'
const server = new Server({ name: 'memory-server', version: '0.6.3' })
const graph = new KnowledgeGraph(() => server.updated(uri))

const entity = z.object({
  name: z.string().describe('The name of the entity'),
  entityType: z.string().describe('The type of the entity'),
  observations: z
    .array(z.string())
    .describe('An array of observation contents associated with the entity'),
})
const relation = z.object({
  from: z.string().describe('The name of the entity where the relation starts'),
  to: z.string().describe('The name of the entity where the relation ends'),
  relationType: z.string().describe('The type of the relation'),
})
const entities = z.object({ entities: z.array(entity) })
const relations = z.object({ relations: z.array(relation) })

const json = (/** @type {unknown} */ value) => JSON.stringify(value, null, 2)
const annotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
}
const deleting = {
  output: z.object({ success: z.boolean(), message: z.string() }),
  text: (/** @type {{ message: string }} */ { message }) => message,
  annotations: { ...annotations, destructiveHint: true, idempotentHint: true },
}
const reading = {
  output: entities.extend(relations.shape),
  text: json,
  annotations: { ...annotations, readOnlyHint: true, idempotentHint: true },
}
const deleted = (/** @type {string} */ what) => ({
  success: true,
  message: `${what} deleted successfully`,
})

server.tool(
  'create_entities',
  {
    title: 'Create Entities',
    description: 'Create multiple new entities in the knowledge graph',
    input: entities,
    output: entities,
    text: ({ entities }) => json(entities),
    annotations,
  },
  async ({ entities }) => ({ entities: await graph.createEntities(entities) }),
)

server.tool(
  'create_relations',
  {
    title: 'Create Relations',
    description:
      'Create multiple new relations between entities in the knowledge graph. Relations should be in active voice',
    input: relations,
    output: relations,
    text: ({ relations }) => json(relations),
    annotations,
  },
  async ({ relations }) => ({ relations: await graph.createRelations(relations) }),
)

server.tool(
  'add_observations',
  {
    title: 'Add Observations',
    description: 'Add new observations to existing entities in the knowledge graph',
    input: z.object({
      observations: z.array(
        z.object({
          entityName: z.string().describe('The name of the entity to add the observations to'),
          contents: z.array(z.string()).describe('An array of observation contents to add'),
        }),
      ),
    }),
    output: z.object({
      results: z.array(
        z.object({ entityName: z.string(), addedObservations: z.array(z.string()) }),
      ),
    }),
    text: ({ results }) => json(results),
    annotations,
  },
  async ({ observations }) => ({ results: await graph.addObservations(observations) }),
)

server.tool(
  'delete_entities',
  {
    ...deleting,
    title: 'Delete Entities',
    description: 'Delete multiple entities and their associated relations from the knowledge graph',
    input: z.object({
      entityNames: z.array(z.string()).describe('An array of entity names to delete'),
    }),
  },
  async ({ entityNames }) => {
    await graph.deleteEntities(entityNames)
    return deleted('Entities')
  },
)

server.tool(
  'delete_observations',
  {
    ...deleting,
    title: 'Delete Observations',
    description: 'Delete specific observations from entities in the knowledge graph',
    input: z.object({
      deletions: z.array(
        z.object({
          entityName: z.string().describe('The name of the entity containing the observations'),
          observations: z.array(z.string()).describe('An array of observations to delete'),
        }),
      ),
    }),
  },
  async ({ deletions }) => {
    await graph.deleteObservations(deletions)
    return deleted('Observations')
  },
)

server.tool(
  'delete_relations',
  {
    ...deleting,
    title: 'Delete Relations',
    description: 'Delete multiple relations from the knowledge graph',
    input: z.object({
      relations: z.array(relation).describe('An array of relations to delete'),
    }),
  },
  async ({ relations }) => {
    await graph.deleteRelations(relations)
    return deleted('Relations')
  },
)

server.tool(
  'read_graph',
  {
    ...reading,
    title: 'Read Graph',
    description: 'Read the entire knowledge graph',
    input: z.object({}),
  },
  () => graph.read(),
)

server.tool(
  'search_nodes',
  {
    ...reading,
    title: 'Search Nodes',
    description: 'Search for nodes in the knowledge graph based on a query',
    input: z.object({
      query: z
        .string()
        .describe('The search query to match against entity names, types, and observation content'),
    }),
  },
  ({ query }) => graph.search(query),
)

server.tool(
  'open_nodes',
  {
    ...reading,
    title: 'Open Nodes',
    description: 'Open specific nodes in the knowledge graph by their names',
    input: z.object({
      names: z.array(z.string()).describe('An array of entity names to retrieve'),
    }),
  },
  ({ names }) => graph.open(names),
)

server.resource(
  'knowledge-graph',
  uri,
  {
    title: 'Knowledge Graph',
    description: 'The full knowledge graph with all entities and relations',
    mimeType: 'application/json',
  },
  async () => json(await graph.read()),
)

await serve(server)
