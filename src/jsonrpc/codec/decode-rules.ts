import { limits } from '../../util/limits/limits.ts'
import type { Kept, KeptCalls } from './raw-json.ts'

/** The open choices of reading. What is left out has the default of `docs/limits.md`. */
export interface DecodeOptions {
  /** The largest text, in bytes of UTF-8. */
  readonly maxBytes?: number
  readonly maxDepth?: number
  readonly maxNodes?: number
  readonly maxBatch?: number
  readonly maxIdLength?: number
  readonly maxMethodLength?: number
  /** Whether a request may have the id null, as JSON-RPC 2.0 allows and MCP does not. */
  readonly nullIds?: boolean
  /** Whether an id may be a fraction, which JSON-RPC 2.0 advises against. */
  readonly fractionalIds?: boolean
  /** Whether `"params": null` counts as no params instead of being refused. */
  readonly nullParams?: boolean
  /**
   * Members of results that may be left as text for calls that only pass them on; every other call gets
   * results as ever. None unless said.
   */
  readonly written?: Kept
  /** The same of the params of requests, by their methods. None unless said. */
  readonly writtenCalls?: KeptCalls
  /** The code that answers a text over `maxBytes`. */
  readonly tooLargeCode?: number
  /** The code that answers a batch over `maxBatch`. */
  readonly batchTooLargeCode?: number
}

/** DecodeOptions with every choice made. */
export type DecodeRules = Required<Omit<DecodeOptions, Unread>> & Pick<DecodeOptions, Unread>

type Unread = 'written' | 'writtenCalls'

/** Fills in the defaults; worth doing once where many texts are read under the same options. */
export function decodeRules(options: DecodeOptions = {}): DecodeRules {
  // Name by name: a member that is there but undefined must not switch a limit off.
  return {
    maxBytes: options.maxBytes ?? limits.socketMessageBytes.default,
    maxDepth: options.maxDepth ?? limits.depth.default,
    maxNodes: options.maxNodes ?? limits.nodes.default,
    maxBatch: options.maxBatch ?? limits.batch.default,
    maxIdLength: options.maxIdLength ?? limits.idLength.default,
    maxMethodLength: options.maxMethodLength ?? limits.methodLength.default,
    nullIds: options.nullIds ?? true,
    fractionalIds: options.fractionalIds ?? false,
    nullParams: options.nullParams ?? false,
    written: options.written,
    writtenCalls: options.writtenCalls,
    tooLargeCode: options.tooLargeCode ?? -32012,
    batchTooLargeCode: options.batchTooLargeCode ?? -32600,
  }
}

/** The options with the size limit of a transport where they name none. */
export function withMaxBytes(options: DecodeOptions | undefined, maxBytes: number): DecodeOptions {
  return { ...options, maxBytes: options?.maxBytes ?? maxBytes }
}
