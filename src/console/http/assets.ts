import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { errorMessage } from '../../util/text/error-message.ts'
import { ApiError, type TextAnswer } from './api.ts'

/** The files of the page, which are read on first use and kept. */
export class Assets {
  readonly #folder: string
  #files: ReadonlyMap<string, TextAnswer> | undefined

  /** Reads from `folder`; by default from the folder of this package. */
  constructor(folder: string = packagedFolder()) {
    this.#folder = folder
  }

  /** Returns a file by its name. Throws an ApiError 404 if there is none. */
  file(name: string): TextAnswer {
    this.#files ??= this.#read()
    const found = this.#files.get(name)
    if (found === undefined) throw new ApiError(404, 'not_found', `there is no file "${name}"`)
    return found
  }

  #read(): ReadonlyMap<string, TextAnswer> {
    try {
      const names = readdirSync(this.#folder).filter(name => types.has(extensionOf(name)))
      return new Map(
        names.map(name => {
          const text = readFileSync(join(this.#folder, name), 'utf8')
          const type = types.get(extensionOf(name)) ?? ''
          return [name, { type, text, isImmutable: name !== 'index.html' }]
        }),
      )
    } catch (cause) {
      const message = `the page of the console cannot be read: ${errorMessage(cause)}`
      throw new ApiError(500, 'no_page', message)
    }
  }
}

const types: ReadonlyMap<string, string> = new Map([
  ['html', 'text/html; charset=utf-8'],
  ['js', 'text/javascript; charset=utf-8'],
  ['css', 'text/css; charset=utf-8'],
  ['svg', 'image/svg+xml'],
])

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

/** Returns the folder that the build writes the page to, whether the sources or the package run. */
function packagedFolder(): string {
  const manifest = createRequire(import.meta.url).resolve('trunkline/package.json')
  return join(dirname(manifest), 'dist', 'console', 'page')
}
