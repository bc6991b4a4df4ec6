import { expect, test } from 'vitest'
import { interfacesOf } from '../../src/cli/types/interfaces.ts'
import { createProject, settings } from './project.ts'

const compile = createProject()

const hostile = `a"; export const evil = 1 /* */ \u2028\n*/ export const worse = 2`

const text = interfacesOf({
  server: { name: hostile, version: '1' },
  tools: [
    {
      name: 'forecast',
      description: 'Tells the weather.\nOf any city.',
      inputSchema: {
        type: 'object',
        properties: { city: { type: 'string' }, days: { type: 'integer' } },
        required: ['city'],
      },
      outputSchema: {
        type: 'object',
        properties: { days: { type: 'array', items: { $ref: '#/$defs/day' } } },
        required: ['days'],
        $defs: { day: { type: 'object', properties: { sky: { enum: ['blue', 'grey'] } } } },
      },
    },
    { name: hostile, description: hostile, inputSchema: { type: 'object' } },
  ],
  prompts: [
    { name: 'review', arguments: [{ name: 'language', required: true }, { name: 'tone' }] },
  ],
})

const program = `
import { connect } from 'trunkline'
${text}
const client = await connect<Tools, Prompts>('http://127.0.0.1:1/mcp')
const { structured } = await client.call('forecast', { city: 'Oslo', days: 3 })
const sky: 'blue' | 'grey' | undefined = structured.days[0]?.sky
await client.prompt('review', { language: 'en' })
export { sky }
`

test.each(settings)('generated interfaces type calls with %s %s', async (...options) => {
  const output = await compile(program, ...options)
  expect(output.match(/^program\.mts.*$/gm) ?? []).toEqual([])
})

test.each([
  `await client.call('forecst', { city: 'Oslo' })`,
  `await client.call('forecast', { city: 5 })`,
  `await client.call('forecast')`,
  `await client.prompt('review', {})`,
  // What a server has chosen adds no code.
  'evil',
  'worse',
])('generated interfaces refuse %s', async wrong => {
  const output = await compile(`${program}\n${wrong}`)
  expect(output.match(/^program\.mts.*$/gm)).toHaveLength(1)
})
