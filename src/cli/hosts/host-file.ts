import { mkdir, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parserFor } from '../../router/config/formats/format.ts'
import { replaceFile } from '../../util/files/replace-file.ts'
import { didYouMean } from '../../util/nearest.ts'
import { UsageError } from '../exit.ts'
import type { Invocation } from '../invocation.ts'
import { errorCode, fileProblem } from '../target/file-problem.ts'
import { diffLines } from './edit/lines.ts'
import { type HostRow, type HostSystem, hostPath, hosts } from './hosts.ts'

/** The file of a host that a command edits. */
export interface HostFile {
  readonly host: HostRow
  readonly path: string
  /** Its text with a byte order mark, if it has one; empty if there is no file. */
  readonly text: string
}

/**
 * Reads the file of the host that the command line names: that of the user, or with `--project` that of the current
 * folder. Throws a UsageError for an unknown host, and for a file that cannot be read.
 */
export async function readHostFile({ input, env }: Invocation): Promise<HostFile> {
  const [id = ''] = input.operands
  const host = hosts.find(one => one.id === id)
  if (host === undefined) {
    const ids = hosts.map(one => one.id)
    const hint = didYouMean(id, ids) || `; hosts are ${ids.join(', ')}`
    throw new UsageError(id === '' ? `missing host${hint}` : `unknown host "${id}"${hint}`)
  }
  const scope = input.has('project') || host.user === undefined ? 'project' : 'user'
  const system: HostSystem = { platform: process.platform, env, folder: '.' }
  const path = hostPath(host, scope, system)
  if (path === undefined) throw new UsageError(`${host.title} has no file for a project`)
  return { host, path, text: await textOf(path) }
}

async function textOf(path: string): Promise<string> {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return decoder.decode(await readFile(path))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return ''
    const reason = error instanceof TypeError ? 'it is not UTF-8' : fileProblem(error)
    throw new UsageError(`cannot read ${path}: ${reason}`, { cause: error })
  }
}

/**
 * Writes the new text of a file, or with `--dry-run` prints the difference. An empty text removes the file. Throws a
 * UsageError, and leaves the file as it is, if the new text could not be parsed.
 */
export async function writeHostFile(
  { input, terminal }: Invocation,
  { path, text: before }: HostFile,
  after: string,
): Promise<void> {
  if (input.has('dry-run')) {
    terminal.line(path)
    for (const line of diffLines(before, after)) terminal.line(line)
    return
  }
  if (after === '') return rm(path, { force: true })
  const { issues } = (await parserFor(path, after))(after)
  const [issue] = issues
  if (issue !== undefined) {
    throw new UsageError(
      `${path}:${issue.line}:${issue.column}: ${issue.message}; the file is unchanged`,
    )
  }
  await mkdir(dirname(path), { recursive: true })
  await replaceFile(path, after)
}
