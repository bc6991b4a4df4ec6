import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { files, importsOf, read, root, subpaths } from '../sources.ts'

const exec = promisify(execFile)

interface Manifest {
  readonly name: string
  readonly version: string
  readonly files: readonly string[]
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const manifest = JSON.parse(read('package.json')) as Manifest

/**
 * An empty project outside of the repository, with the packed package installed as a user would do it,
 * and a compiler with the types of Node. It has nothing else, so that undeclared dependencies are missing.
 */
let home: string
let installed: string

beforeAll(async () => {
  const { name, version, devDependencies } = manifest
  home = await realpath(await mkdtemp(join(tmpdir(), 'trunkline-package-')))
  expectNothingAbove(home)
  installed = join(home, 'node_modules', name)
  // The build is up to date, and other tests are using it.
  await npm(root, 'pack', '--ignore-scripts', '--pack-destination', home)
  await writeFile(join(home, 'package.json'), '{ "private": true, "type": "module" }\n')
  const tools = ['typescript', '@types/node'].map(tool => `${tool}@${devDependencies[tool]}`)
  const wanted = [`./${name}-${version}.tgz`, ...tools]
  await npm(home, 'install', '--prefer-offline', '--ignore-scripts', ...wanted)
}, 600_000)

afterAll(() => rm(home, { recursive: true, force: true }))

describe('the packed package', () => {
  test('contains the compiled sources, their types, docs, examples, a schema and four other files', () => {
    const texts = [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'package.json',
      'schema/trunkline.schema.json',
    ]
    const contents = readdirSync(installed, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => relative(installed, join(entry.parentPath, entry.name)).split(sep).join('/'))
    expect(contents.filter(path => !/^(?:dist|docs|examples)\//.test(path)).sort()).toEqual(texts)
    // What the README links to, so that the links work where the package is installed.
    expect(contents).toContain('docs/README.md')
    expect(contents).toContain('examples/README.md')
    expect(contents.filter(path => path.includes('node_modules/'))).toEqual([])
    const page = contents.filter(path => path.startsWith('dist/console/page/'))
    const kinds = page.map(path => path.replace(/^.*\/(?:\w+-[\w-]+\.|(?=\w+\.(?:html|txt)$))/, ''))
    expect(new Set(kinds)).toEqual(new Set(['LICENSES.txt', 'css', 'index.html', 'js']))
    const stray = contents.filter(
      path => path.startsWith('dist/') && !/\.(js|d\.ts)$/.test(path) && !page.includes(path),
    )
    expect([...stray, ...contents.filter(path => path.includes('.test.'))]).toEqual([])
  })

  test.each(subpaths())('$specifier can be imported', async ({ specifier, list }) => {
    const program = `import(${JSON.stringify(specifier)}).then(m => console.log(Object.keys(m).length))`
    const { stdout } = await node('--input-type=module', '--eval', program)
    const hasValues = /^export (?!type )/m.test(read(`src/${list}`))
    expect(Number(stdout) > 0).toBe(hasValues)
  })

  test('modules that it does not export cannot be imported', async () => {
    const program = "import('trunkline/dist/index.js').catch(error => console.log(error.code))"
    const { stdout } = await node('--input-type=module', '--eval', program)
    expect(stdout.trim()).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED')
  })

  test('runs the demo', async () => {
    await cp(join(root, 'examples/demo.js'), join(home, 'demo.js'))
    const { stdout } = await node('demo.js', '--once')
    expect(stdout).toContain('sum')
  })
})

test('the server in the first lines of the README runs in a folder created by npm init', async () => {
  const { name, version, devDependencies } = manifest
  const [, server = ''] = /^```js server\.mjs\n(.*?)^```/ms.exec(read('README.md')) ?? []
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'trunkline-readme-')))
  try {
    await npm(folder, 'init', '--yes')
    const wanted = [join(home, `${name}-${version}.tgz`), `zod@${devDependencies.zod}`]
    await npm(folder, 'install', '--prefer-offline', '--ignore-scripts', ...wanted)
    await writeFile(join(folder, 'server.mjs'), server)
    const main = join(folder, 'node_modules', name, 'dist/cli/main.js')
    const call = ['call', 'forecast', 'city=Oslo', '--', process.execPath, 'server.mjs']
    const { stdout } = await exec(process.execPath, [main, ...call], { cwd: folder })
    expect(stdout).toBe('Sunny in Oslo\n')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('packing a fresh clone builds it first', async () => {
  const clone = join(home, 'clone')
  const { name, version } = manifest
  const texts = manifest.files.filter(file => file !== 'dist' && !file.startsWith('!'))
  const sources = [
    'package.json',
    'package-lock.json',
    'scripts',
    'src',
    'console',
    'tsconfig.json',
  ]
  for (const path of [...sources, 'tsconfig.build.json', ...texts]) {
    await cp(join(root, path), join(clone, path), { recursive: true })
  }
  await symlink(join(root, 'node_modules'), join(clone, 'node_modules'), 'junction')
  await npm(clone, 'pack')
  const { stdout } = await exec('tar', ['-tf', join(clone, `${name}-${version}.tgz`)])
  const packed = stdout.split(/\r?\n/)
  for (const { list } of subpaths()) {
    expect(packed).toContain(`package/dist/${list.replace(/\.ts$/, '.js')}`)
    expect(packed).toContain(`package/dist/${list.replace(/\.ts$/, '.d.ts')}`)
  }
}, 600_000)

test('package.json has the fields that a registry needs', () => {
  const fields = JSON.parse(read('package.json'))
  for (const field of ['name', 'version', 'description', 'keywords', 'author', 'license']) {
    expect([field, fields[field]?.length > 0]).toEqual([field, true])
  }
})

test('the declarations name no package whose types a user may not have', () => {
  const declarations = files('dist').filter(path => path.endsWith('.d.ts'))
  expect(declarations.length).toBeGreaterThan(0)
  const named = declarations.flatMap(path =>
    importsOf(read(`dist/${path}`))
      .filter(name => !name.startsWith('.') && !isBuiltin(name) && !bringsTypes(name))
      .map(name => `${path} imports ${name}`),
  )
  expect(named).toEqual([])
})

/** Returns whether a package is installed along with this one and ships its own types. */
function bringsTypes(name: string): boolean {
  if (manifest.dependencies[name] === undefined) return false
  const folder = join(installed, '..', name)
  const {
    types,
    typings,
    main = '',
  } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (existsSync(join(folder, main.replace(/\.js$/, '.d.ts')))) return true
  return (types ?? typings) !== undefined
}

describe('importing', () => {
  test('trunkline loads nothing of authorization before it is used', () => {
    const authorizing = (entry: string) =>
      graph(entry).filter(name => name.startsWith('dist/') && /AuthError\b.*class/.test(read(name)))
    expect(authorizing('dist/index.js')).toEqual([])
    expect(authorizing('dist/auth/index.js')).not.toEqual([])
  })

  test('trunkline/auth loads no other package before it is used', () => {
    const loaded = graph('dist/auth/index.js')
    expect(loaded.filter(name => !name.startsWith('dist/') && !name.startsWith('node:'))).toEqual(
      [],
    )
  })

  test('trunkline/jsonrpc loads nothing but itself: no package, no module of Node', () => {
    const loaded = graph('dist/jsonrpc/index.js')
    expect(loaded.sort()).toEqual(['dist/jsonrpc/index.js', 'dist/parts/jsonrpc.js'])
  })

  test('trunkline loads no other package before it is used', () => {
    const loaded = graph('dist/index.js')
    expect(loaded.filter(name => !name.startsWith('dist/') && !name.startsWith('node:'))).toEqual(
      [],
    )
  })
})

const consumer = `
import { type ChildProcess, connect, listen } from 'trunkline'
import { type Decoded, decode, type Handler, Peer, RpcError } from 'trunkline/jsonrpc'
import { childChannel, memoryPair, type StreamOptions, streamChannel } from 'trunkline/transport'

const handler: Handler = message => {
  if (message.method === 'sum') return 7
  throw new RpcError(-32601, 'Method not found')
}

export async function main(): Promise<unknown> {
  const listener = await listen(handler, 'tcp://127.0.0.1:0', { protocol: 'jsonrpc' })
  const peer: Peer = await connect(listener.address, { protocol: 'jsonrpc' })
  const sum: unknown = await peer.call('sum', [1, 2, 4], { timeoutMs: 1000 })
  await peer.close()
  await listener.close()
  return sum
}

interface Calculator {
  add(a: number, b: number): number
}

export async function served(calculator: Calculator, input: NodeJS.ReadStream): Promise<void> {
  await using listener = await listen(calculator, 'tcp://127.0.0.1:0', {
    protocol: 'jsonrpc',
    onPeer: peer => void peer.notify('welcome'),
  })
  const pids: number[] = []
  const onChild = (child: ChildProcess): void => void pids.push(child.pid)
  await using peer = await connect({ command: 'node' }, { protocol: 'jsonrpc', onChild })
  const options: StreamOptions = { framing: 'headers' }
  for (const channel of [...memoryPair(), streamChannel(input, process.stdout, options)]) {
    new Peer(channel, { add: (a: number, b: number) => a + b })
  }
  const { stderr }: ChildProcess = await childChannel({ command: 'node' })
  console.log(listener.address, peer.closed, stderr)
}

export function isRequest(text: string | Uint8Array): boolean {
  const decoded: Decoded = decode(text)
  // @ts-expect-error: only a request or a notification has a method
  decoded.method
  return decoded.type === 'request' && decoded.method !== ''
}
`

describe('a TypeScript program against the package', () => {
  const settings = [
    { module: 'nodenext', moduleResolution: 'nodenext' },
    { module: 'esnext', moduleResolution: 'bundler' },
  ]

  test.each(settings)('compiles with moduleResolution $moduleResolution', async setting => {
    const compilerOptions = {
      ...setting,
      target: 'es2023',
      lib: ['es2023', 'esnext.disposable'],
      strict: true,
      noEmit: true,
      // The declarations of the package are checked too, as for a user who disables skipLibCheck.
      skipLibCheck: false,
      types: ['node'],
    }
    const project = `tsconfig.${setting.moduleResolution}.json`
    const config = JSON.stringify({ compilerOptions, files: ['consumer.ts', 'everything.ts'] })
    await writeFile(join(home, project), config)
    await writeFile(join(home, 'consumer.ts'), consumer)
    await writeFile(join(home, 'everything.ts'), everything())
    const tsc = join(home, 'node_modules/typescript/bin/tsc')
    const { stdout } = await node(tsc, '-p', project).catch((error: { stdout: string }) => error)
    expect(stdout).toBe('')
  })
})

/** Returns a program that uses every module a user can import. */
function everything(): string {
  const names = subpaths().map(({ specifier }, at) => [`all${at}`, specifier])
  const imports = names.map(([name, specifier]) => `import * as ${name} from '${specifier}'`)
  return [...imports, `console.log(${names.map(([name]) => name).join(', ')})`, ''].join('\n')
}

/** Fails if a parent folder has packages, because they would replace missing ones. */
function expectNothingAbove(folder: string): void {
  for (let at = dirname(folder); ; at = dirname(at)) {
    const found = join(at, 'node_modules')
    if (existsSync(found))
      throw new Error(`${found} is in the way: set TMPDIR to a folder elsewhere`)
    if (at === dirname(at)) return
  }
}

function node(...args: string[]): Promise<{ stdout: string }> {
  return exec(process.execPath, args, { cwd: home })
}

/** Runs npm in a folder. If it fails, the error has the last lines that npm and its scripts printed. */
async function npm(cwd: string, ...args: string[]): Promise<void> {
  const { npm_execpath } = process.env
  const isScript = npm_execpath?.endsWith('npm-cli.js') === true
  const [command, ...first] = isScript ? [process.execPath, npm_execpath] : ['npm']
  const all = [...first, ...args, '--loglevel=error', '--no-audit', '--no-fund']
  const shell = !isScript && process.platform === 'win32'
  const child = spawn(command, all, { cwd, shell, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-4000)
    })
  }
  const [code, signal] = await once(child, 'close')
  if (code !== 0) throw new Error(`npm ${args.join(' ')} ended with ${code ?? signal}:\n${printed}`)
}

/** Returns all modules that importing a file of the installed package loads eagerly. */
function graph(entry: string): string[] {
  const loaded = new Set([entry])
  for (const name of loaded) {
    const file = join(installed, name)
    if (!name.startsWith('dist/') || !existsSync(file)) continue
    // Dynamic imports are left out, because they load on demand.
    const text = readFileSync(file, 'utf8').replace(/\bimport\(/g, 'later(')
    for (const specifier of importsOf(text)) {
      const target = relative(installed, join(dirname(file), specifier))
        .split(sep)
        .join('/')
      loaded.add(specifier.startsWith('.') ? target : specifier)
    }
  }
  return [...loaded]
}
