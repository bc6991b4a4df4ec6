import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { root } from '../sources.ts'

const options = '--noEmit --strict --skipLibCheck --module nodenext --target es2023 --types node'
const libs = ['--lib', 'es2023,esnext.disposable', '--extendedDiagnostics']

type Compile = (program: string, ...options: readonly string[]) => Promise<string>

/** The two settings of the compiler under which the types of the package must work. */
export const settings = [
  ['--exactOptionalPropertyTypes', 'false'],
  ['--exactOptionalPropertyTypes', 'true'],
] as const

/**
 * Creates a project outside of the repository that sees the package as its users do: its types, not its
 * sources. Returns a function that compiles one program there, with further options, and resolves to all that
 * the compiler prints: type errors, and then its statistics.
 */
export function createProject(): Compile {
  let home: string

  beforeAll(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), 'trunkline-types-')))
    const modules = join(home, 'node_modules')
    await mkdir(modules)
    const links = [
      ['trunkline', root],
      ...['zod', 'valibot', 'arktype', '@types'].map(name => [
        name,
        join(root, 'node_modules', name),
      ]),
    ] as const
    for (const [name, target] of links) await symlink(target, join(modules, name), 'junction')
  })

  afterAll(() => rm(home, { recursive: true, force: true }))

  return async (program, ...further) => {
    await writeFile(join(home, 'program.mts'), program)
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const args = [tsc, ...options.split(' '), ...libs, ...further, 'program.mts']
    return await new Promise((resolve, reject) => {
      execFile(process.execPath, args, { cwd: home }, (error, stdout) => {
        // Type errors give an exit code; without output the compiler has not run.
        if (error !== null && stdout === '') reject(error)
        else resolve(stdout)
      })
    })
  }
}
