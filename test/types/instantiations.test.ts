import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../sources.ts'

const exec = promisify(execFile)
const maxInstantiations = 10_000

/**
 * A project outside of the repository that sees the package as its users do: its types, not its
 * sources.
 */
let home: string

beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'trunkline-types-')))
  const modules = join(home, 'node_modules')
  await mkdir(modules)
  const links = [
    ['trunkline', root],
    ['zod', join(root, 'node_modules/zod')],
    ['@types', join(root, 'node_modules/@types')],
  ] as const
  for (const [name, target] of links) await symlink(target, join(modules, name), 'junction')
})

afterAll(() => rm(home, { recursive: true, force: true }))

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

test.each(Object.entries(programs))('%s needs few type instantiations', async (_, program) => {
  await writeFile(join(home, 'program.mts'), program)
  const options = '--noEmit --strict --skipLibCheck --module nodenext --target es2023 --types node'
  const libs = ['--lib', 'es2023,esnext.disposable', '--extendedDiagnostics']
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = await exec(
    process.execPath,
    [tsc, ...options.split(' '), ...libs, 'program.mts'],
    { cwd: home },
  )
  const instantiations = Number(/^Instantiations:\s+(\d+)/m.exec(stdout)?.[1])
  expect(instantiations).toBeGreaterThan(0)
  expect(instantiations).toBeLessThan(maxInstantiations)
})
