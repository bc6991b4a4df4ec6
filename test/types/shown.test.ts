import { expect, test } from 'vitest'
import { createProject } from './project.ts'

const compile = createProject()

/** What a handler receives first, and how an editor shows its type. */
const shown: readonly (readonly [what: string, registration: string, type: string])[] = [
  [
    'the variable of a template',
    `resourceTemplate('user', 'db://users/{id}', {}, `,
    '{ readonly id: string; }',
  ],
  [
    'the variables of a template, some of them optional',
    `resourceTemplate('user', 'db://users/{id}{?fields*}', {}, `,
    '{ readonly fields?: readonly string[] | undefined; readonly id: string; }',
  ],
  ['no variables', `resourceTemplate('none', 'db://users', {}, `, '{}'],
  [
    'the input of a plain JSON Schema',
    `tool('plain', { input: {
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'object', properties: { c: { type: 'number' }, d: { type: 'null' } }, required: ['c'] },
      },
      required: ['a'],
    } }, `,
    '{ a: string; b?: { c: number; d?: null | undefined; } | undefined; }',
  ],
  [
    'the input of a schema of Zod',
    `tool('zod', { input: z.object({ a: z.string(), b: z.number().optional() }) }, `,
    '{ a: string; b?: number | undefined; }',
  ],
]

// The compiler names a type in its errors as editors show it.
test('editors show what handlers receive as plain objects', async () => {
  const output = await compile(`
    import { Server } from 'trunkline'
    import { z } from 'zod'
    const server = new Server({ name: 'shown', version: '1.0.0' })
    ${shown.map(([, start]) => `server.${start}given => { const none: never = given; return none })`).join('\n')}
  `)
  const types = [...output.matchAll(/error TS\d+: Type '(.*)' is not assignable to type 'never'/g)]
  expect(types.map(([, type]) => type)).toEqual(shown.map(([, , type]) => type))
})
