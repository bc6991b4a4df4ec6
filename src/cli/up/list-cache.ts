import { mkdir, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  isListsFile,
  RememberedLists,
  type RememberedListsFile,
} from '../../router/catalog/remembered-lists.ts'
import { limits } from '../../util/limits/limits.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { replaceFile } from '../replace-file.ts'

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
        // It may have lists of other routers; an invalid file is replaced.
        const file = await this.#read().catch(() => undefined)
        await replaceFile(this.#path, JSON.stringify(merged(file, this.lists.export())))
      } catch (error) {
        this.#onProblem(errorMessage(error))
      }
    })
  }

  async #read(): Promise<RememberedListsFile | undefined> {
    const { size } = await stat(this.#path).catch(() => ({ size: 0 }))
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

/** Returns a file with the newest servers of two; those of the second are the newer ones. */
function merged(
  file: RememberedListsFile | undefined,
  own: RememberedListsFile,
): RememberedListsFile {
  const others = Object.entries(file?.servers ?? {}).filter(
    ([key]) => !Object.hasOwn(own.servers, key),
  )
  const all = [...others, ...Object.entries(own.servers)]
  const newest = all.slice(-limits.rememberedServers.default)
  return { version: 1, servers: Object.fromEntries(newest) }
}

/** Returns where lists are remembered if the user does not say so: in the user's folder for caches. */
export function defaultCachePath(env: Readonly<Record<string, string | undefined>>): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = env
  const system = process.platform === 'win32' ? LOCALAPPDATA : undefined
  const folder = XDG_CACHE_HOME || system || join(homedir(), '.cache')
  return join(folder, 'trunkline', 'lists.json')
}
