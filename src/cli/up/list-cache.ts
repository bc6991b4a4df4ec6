import type { Stats } from 'node:fs'
import { mkdir, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  isListsFile,
  RememberedLists,
  type RememberedListsFile,
} from '../../router/catalog/remembered-lists.ts'
import { replaceFile } from '../../util/files/replace-file.ts'
import { limits } from '../../util/limits/limits.ts'
import { errorMessage } from '../../util/text/error-message.ts'

/**
 * The lists of servers in a file, so that the next run can answer before its servers have started. The file
 * is only a cache: one that is missing, invalid or not writable is reported, and nothing fails because of it.
 */
export class ListCache {
  readonly lists = new RememberedLists()
  readonly #path: string
  readonly #onProblem: (reason: string) => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #writing: Promise<void> = Promise.resolve()
  /** The file as this process wrote it, if it holds nothing else. */
  #own: FileVersion | undefined

  constructor(path: string, onProblem: (reason: string) => void) {
    this.#path = path
    this.#onProblem = onProblem
  }

  /** Reads what the file has under these keys. Never rejects. */
  async load(keys: ReadonlySet<string>): Promise<void> {
    try {
      const file = await this.#read()
      if (file !== undefined) this.lists.import(file, key => keys.has(key))
    } catch (error) {
      this.#onProblem(errorMessage(error))
    }
  }

  /** Writes the file soon, once for all changes until then. */
  save(): void {
    this.#timer ??= setTimeout(() => this.#write(), limits.listCacheDelayMs.default)
    this.#timer.unref()
  }

  /** Writes what has changed. Never rejects. */
  async close(): Promise<void> {
    if (this.#timer !== undefined) this.#write()
    await this.#writing
  }

  #write(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writing.then(async () => {
      try {
        await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 })
        const own = this.lists.export()
        const others = await this.#others(own)
        await replaceFile(this.#path, JSON.stringify(merged(others, own)))
        this.#own = others.length === 0 ? await versionOf(this.#path) : undefined
      } catch (error) {
        this.#onProblem(errorMessage(error))
      }
    })
  }

  /** Returns the lists of other routers in the file. An invalid file has none. */
  async #others({ servers }: RememberedListsFile): Promise<readonly Entry[]> {
    const version = await versionOf(this.#path)
    const isOwn = this.#own !== undefined && isSameVersion(this.#own, version)
    const file = isOwn ? undefined : await this.#read().catch(() => undefined)
    return Object.entries(file?.servers ?? {}).filter(([key]) => !Object.hasOwn(servers, key))
  }

  async #read(): Promise<RememberedListsFile | undefined> {
    const { size } = await versionOf(this.#path)
    if (size === 0) return undefined
    if (size > limits.listCacheBytes.default) throw new Error(`${this.#path} is too large`)
    const file = parsed(await readFile(this.#path, 'utf8'))
    if (!isListsFile(file)) throw new Error(`${this.#path} is not a file of remembered lists`)
    return file
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Entry = readonly [key: string, server: unknown]

type FileVersion = Pick<Stats, 'size' | 'mtimeMs' | 'ino'>

/** Returns what changes with every write; of a file that does not exist, the size 0. */
async function versionOf(path: string): Promise<FileVersion> {
  return stat(path).catch(() => ({ size: 0, mtimeMs: 0, ino: 0 }))
}

function isSameVersion(one: FileVersion, other: FileVersion): boolean {
  return one.size === other.size && one.mtimeMs === other.mtimeMs && one.ino === other.ino
}

/** Returns a file with the newest servers: own ones are newer than others. */
function merged(others: readonly Entry[], own: RememberedListsFile): RememberedListsFile {
  const all = [...others, ...Object.entries(own.servers)]
  const newest = all.slice(-limits.rememberedServers.default)
  return { version: 1, servers: Object.fromEntries(newest) }
}

/** Opens a cache, and reads what it has under these keys; a server without a key is not remembered. */
export async function openListCache(
  path: string,
  keys: readonly (string | undefined)[],
  onProblem: (reason: string) => void,
): Promise<ListCache> {
  const cache = new ListCache(path, onProblem)
  await cache.load(new Set(keys.filter(key => key !== undefined)))
  return cache
}

/** Returns where lists are remembered if the user does not say so: in the user's folder for caches. */
export function defaultCachePath(env: Readonly<Record<string, string | undefined>>): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = env
  const system = process.platform === 'win32' ? LOCALAPPDATA : undefined
  const folder = XDG_CACHE_HOME || system || join(homedir(), '.cache')
  return join(folder, 'trunkline', 'lists.json')
}
