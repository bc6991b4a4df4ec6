import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { readTranscript } from '../../src/testing/transcript.ts'
import { proves } from '../requirements.ts'
import { fixtureFor } from './fixtures.ts'
import { wires } from './wires.ts'

const request = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/list',
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
}

test('every schema that the server of the transcripts sends is valid in its own dialect', async () => {
  proves('B17e', 'S6')
  const fixture = fixtureFor(readTranscript('serve: everything\n> {"id":1,"method":"tools/list"}'))
  const conversation = await wires[0].open(fixture)
  await conversation.send(JSON.stringify(request))
  const { result } = JSON.parse(await conversation.next()) as { result: { tools: Tool[] } }
  await conversation.close()
  const schemas = result.tools.flatMap(({ name, inputSchema, outputSchema }) =>
    [inputSchema, outputSchema].flatMap(schema => (schema === undefined ? [] : [{ name, schema }])),
  )
  expect(schemas.length).toBeGreaterThan(40)
  const wrong = schemas.filter(({ schema }) => !judgeOf(schema).validateSchema(schema))
  expect(wrong).toEqual([])
})

interface Tool {
  readonly name: string
  readonly inputSchema: Schema
  readonly outputSchema?: Schema
}

interface Schema {
  readonly $schema?: string
}

const newest = new Ajv2020()
const draft7 = new Ajv()

function judgeOf({ $schema }: Schema): Ajv | Ajv2020 {
  return $schema?.includes('draft-07') ? draft7 : newest
}
