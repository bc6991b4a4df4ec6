import { checkOptions, formatValue, type OptionTableOf } from '../../../util/options.ts'
import type { Redirect } from './redirect.ts'

/** Options of {@link loopback}. */
export interface LoopbackOptions {
  /** The port to listen on; by default the one that this client is registered with, or a free one. */
  readonly port?: number
  /** The name of this machine in the redirect address: `127.0.0.1` by default, `localhost` or `[::1]`. */
  readonly host?: '127.0.0.1' | 'localhost' | '[::1]'
  /** The path of the redirect address; `/callback` by default. */
  readonly path?: string
}

const table: OptionTableOf<LoopbackOptions> = {
  port: 'count',
  host: ['127.0.0.1', 'localhost', '[::1]'],
  path: 'string',
}

/**
 * Makes a redirect to this machine: while a user logs in, a small HTTP server on the loopback interface waits for
 * the browser to return. Node.js only.
 */
export function loopback(options: LoopbackOptions = {}): Redirect {
  checkOptions(options, table)
  const { path = '/callback' } = options
  if (!/^\/[\w./~-]*$/.test(path))
    throw new TypeError(`option "path" must be a plain path (got ${formatValue(path)})`)
  return {
    listen: async listening => {
      const { listenOnLoopback } = await import('./node-loopback.ts')
      return listenOnLoopback({ ...options, path }, listening)
    },
  }
}
