import { expect, test } from 'vitest'
import { createProject, settings } from './project.ts'

const maxInstantiations = 10_000

const compile = createProject()

const programs = {
  'hello world with Zod': `
    import { Server, serve } from 'trunkline'
    import { z } from 'zod'
    const server = new Server({ name: 'weather', version: '1.0.0' })
    const input = z.object({ city: z.string() })
    server.tool('forecast', { input }, ({ city }) => \`Sunny in \${city}\`)
    await serve(server)
  `,
  'hello world with a plain JSON Schema': `
    import { Server, serve } from 'trunkline'
    const server = new Server({ name: 'weather', version: '1.0.0' })
    const input = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const
    server.tool('forecast', { input }, ({ city }) => \`Sunny in \${city}\`)
    await serve(server)
  `,
  'a client': `
    import { connect } from 'trunkline'
    const client = await connect({ command: 'weather' })
    console.log((await client.call('forecast', { city: 'Rome' })).text)
    for await (const tool of client.tools()) console.log(tool.name)
    await client.close()
  `,
}

const everyKind = `
  import { Server, serve } from 'trunkline'
  import { z } from 'zod'
  const server = new Server({ name: 'weather', version: '1.0.0' })
  const input = z.object({ city: z.string() })
  const output = z.object({ sky: z.string() })
  server.tool('forecast', { input, output }, ({ city }) => ({ sky: city }))
  server.resourceTemplate('user', 'db://users/{id}', {}, ({ id }) => id)
  server.prompt('greet', { args: z.object({ name: z.string() }) }, ({ name }) => name)
  await serve(server)
`

test.each(settings)('a tool, a template and a prompt need few, with %s %s', async (...options) => {
  const output = await compile(everyKind, ...options)
  expect(output).not.toContain('error TS')
  expect(instantiationsIn(output)).toBeLessThanOrEqual(4000)
})

test.each(Object.entries(programs))('%s needs few type instantiations', async (_, program) => {
  const output = await compile(program)
  expect(output).not.toContain('error TS')
  expect(instantiationsIn(output)).toBeLessThan(maxInstantiations)
})

function instantiationsIn(output: string): number {
  const instantiations = Number(/^Instantiations:\s+(\d+)/m.exec(output)?.[1])
  expect(instantiations).toBeGreaterThan(0)
  return instantiations
}
