import { checkName } from '../mcp/names.ts'
import { checkOptions, type OptionTableOf } from '../util/options.ts'
import type { McpEndpoint } from './core/endpoint.ts'
import type { LocalFeatures } from './features/local-features.ts'

/** How a server is mounted on another. */
export interface MountOptions {
  /** What the names of its tools and prompts begin with, such as `clock__`; nothing by default. */
  readonly prefix?: string
}

/** A server that is mounted on another. */
export interface Mount extends Disposable {
  /** What the names of its tools and prompts begin with. */
  readonly prefix: string
  /** Removes its features from the other server. Idempotent. */
  remove(): void
}

const table: OptionTableOf<MountOptions> = { prefix: 'string' }

/** Shows the features of one server in another. Throws a TypeError, and changes nothing, if that is impossible. */
export function mountServer(
  outer: McpEndpoint<LocalFeatures>,
  inner: McpEndpoint<LocalFeatures>,
  options: MountOptions,
): Mount {
  checkOptions(options, table)
  const { prefix = '' } = options
  if (outer === inner) throw new TypeError('a server cannot be mounted on itself')
  const problem = prefix === '' ? undefined : checkName(prefix, 'prefix')
  if (problem !== undefined) throw new TypeError(problem)
  const unmount = outer.features.mount(inner.features, inner.mountScope(), prefix)
  const disconnect = outer.subscriptions.mount({
    subscriptions: inner.subscriptions,
    has: uri => inner.features.resources.knows(uri),
  })
  const remove = (): void => {
    disconnect()
    unmount()
  }
  return { prefix, remove, [Symbol.dispose]: remove }
}
