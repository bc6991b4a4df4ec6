import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { root } from '../sources.ts'
import { call, compare, expectKnown, request, type Step } from './compare.ts'
import { knownFor } from './known.ts'
import type { Program, ProgramOptions } from './program.ts'

const home = realpathSync(mkdtempSync(join(tmpdir(), 'trunkline-files-')))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const programs = [
  'third-party/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js',
  'examples/ports/filesystem/server.js',
] as const

/** Starts a program in a folder of its own, which messages call BOX. */
function start(program: string, options: Omit<ProgramOptions, 'args'> = {}): ProgramOptions {
  const folder = mkdtempSync(join(home, 'box-'))
  for (const path of ['deep/deeper', 'other', '.git']) {
    mkdirSync(join(folder, path), { recursive: true })
  }
  writeFileSync(join(folder, 'lines.txt'), '1\r\n2\n3\n4\n')
  writeFileSync(join(folder, 'empty.txt'), '')
  writeFileSync(join(folder, 'deep/note.md'), '# Note\n')
  writeFileSync(join(folder, 'deep/deeper/large.md'), 'x'.repeat(3000))
  writeFileSync(join(folder, 'one.PNG'), 'png')
  writeFileSync(join(folder, 'one.wav'), 'wav')
  writeFileSync(join(folder, 'one.bin'), new Uint8Array([0, 255]))
  symlinkSync('/etc', join(folder, 'outside'))
  return { ...options, args: [join(root, program), folder], words: { BOX: folder } }
}

const steps: readonly Step[] = [
  request('tools/list', 'tools/list'),
  request('resources/list', 'resources/list'),
  call('list_allowed_directories', {}),
  call('read_file', { path: 'BOX/lines.txt' }),
  call('read_text_file', { path: 'BOX/lines.txt', head: 2 }),
  call('read_text_file', { path: 'BOX/lines.txt', tail: 2 }),
  call('read_text_file', { path: 'BOX/lines.txt', tail: 2, head: 2 }),
  call('read_text_file', { path: 'lines.txt' }),
  call('read_text_file', { path: 'BOX/none.txt' }),
  call('read_text_file', { path: 'BOX/deep' }),
  call('read_text_file', { path: '/etc/hostname' }),
  call('read_text_file', { path: 'BOX/outside/hostname' }),
  call('read_text_file', { path: 'C:\\x' }),
  call('read_media_file', { path: 'BOX/one.PNG' }),
  call('read_media_file', { path: 'BOX/one.wav' }),
  call('read_media_file', { path: 'BOX/one.bin' }),
  call('read_media_file', { path: 'BOX/none.bin' }),
  call('read_multiple_files', { paths: ['BOX/lines.txt', 'BOX/none', '/etc/hostname'] }),
  call('read_multiple_files', { paths: [] }),
  call('write_file', { path: 'BOX/new.txt', content: 'new\n' }),
  call('write_file', { path: 'BOX/new.txt', content: 'line\n  indented\n' }),
  call('write_file', { path: 'BOX/no/such/file.txt', content: '' }),
  call('edit_file', {
    path: 'BOX/new.txt',
    edits: [{ oldText: 'line', newText: 'row' }],
    dryRun: true,
  }),
  call('edit_file', {
    path: 'BOX/new.txt',
    edits: [{ oldText: 'indented', newText: '`more`\nrows' }],
  }),
  call('edit_file', { path: 'BOX/new.txt', edits: [{ oldText: 'none', newText: '' }] }),
  call('create_directory', { path: 'BOX/a/b/c' }),
  call('create_directory', { path: '/tmp' }),
  call('list_directory', { path: 'BOX' }),
  call('list_directory', { path: 'BOX/lines.txt' }),
  call('list_directory_with_sizes', { path: 'BOX/deep' }),
  call('list_directory_with_sizes', { path: 'BOX', sortBy: 'size' }),
  call('list_directory_with_sizes', { path: 'BOX', sortBy: 'age' }),
  call('directory_tree', { path: 'BOX/deep' }),
  call('directory_tree', { path: 'BOX', excludePatterns: ['outside', '*.txt', 'deeper'] }),
  call('directory_tree', { path: 'BOX' }),
  call('move_file', { source: 'BOX/new.txt', destination: 'BOX/other/moved.txt' }),
  call('move_file', { source: 'BOX/lines.txt', destination: 'BOX/one.bin' }),
  call('search_files', { path: 'BOX', pattern: '**/*.md' }),
  call('search_files', { path: 'BOX', pattern: '**', excludePatterns: ['deep/**'] }),
  call('search_files', { path: 'BOX', pattern: '*.none' }),
  call('get_file_info', { path: 'BOX/deep/note.md' }),
  call('get_file_info', { path: 'BOX/deep' }),
  call('get_file_info', { path: 'BOX/none' }),
  call('get_file_info', {}),
  call('list_allowed_directories', undefined, 'without arguments'),
  call('burn', {}),
]

test('the filesystem server and its port', async () => {
  const [original, port] = [start(programs[0]), start(programs[1])]
  expectKnown(await compare(original, port, steps, withoutTimes), knownFor('filesystem'))
})

test('the filesystem server and its port, with roots', async () => {
  let roots = [{ uri: 'file://BOX/other', name: 'other' }, { uri: 'file:///no/such' }]
  const options = {
    capabilities: { roots: { listChanged: true } },
    answers: { 'roots/list': () => ({ result: { roots } }) },
  }
  const [original, port] = [start(programs[0], options), start(programs[1], options)]
  const allowed = async (program: Program, folder: string) => {
    const list = { name: 'list_allowed_directories', arguments: {} }
    const now = async () => JSON.stringify(await program.request('tools/call', list))
    await expect.poll(now).toContain(`:\\n${folder}"`)
    return [...program.received]
  }
  const found = await compare(original, port, [
    ['the roots', program => allowed(program, 'BOX/other')],
    call('read_text_file', { path: 'BOX/lines.txt' }),
    [
      'other roots',
      program => {
        roots = [{ uri: 'file://BOX/deep', name: 'deep' }]
        program.send({ method: 'notifications/roots/list_changed' })
        return allowed(program, 'BOX/deep')
      },
    ],
    call('read_text_file', { path: 'BOX/deep/note.md' }),
  ])
  expectKnown(found, knownFor('filesystem, roots'))
})

/** The times of files differ. */
function withoutTimes(text: string): string {
  return text.replaceAll(/(created|modified|accessed): [^\\]*/g, '$1: TIME')
}
