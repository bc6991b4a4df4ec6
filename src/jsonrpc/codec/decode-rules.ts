import { limits } from '../../util/limits/limits.ts'
import type { RawCalls, RawShape } from './raw-json.ts'

/** Options for decoding messages. The defaults of the limits are in `docs/limits.md`. */
export interface DecodeOptions {
  /** The size limit of a text, in bytes of UTF-8. */
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
  /** Whether `"params": null` counts as no params; otherwise it is rejected. */
  readonly nullParams?: boolean
  /**
   * The members of results that can stay raw JSON, for calls that accept it
   * (`ReplyHandler.acceptsRaw`); every other call gets its result parsed. By default everything is
   * parsed.
   */
  readonly rawResults?: RawShape
  /**
   * The members of params that can stay raw JSON, by request method. By default everything is parsed.
   */
  readonly rawCalls?: RawCalls
  /** The error code for a text over `maxBytes`. */
  readonly tooLargeCode?: number
  /** The error code for a batch over `maxBatch`. */
  readonly batchTooLargeCode?: number
}

/** DecodeOptions with every default filled in. */
export type DecodeRules = Required<Omit<DecodeOptions, RawOptions>> &
  Pick<DecodeOptions, RawOptions>

type RawOptions = 'rawResults' | 'rawCalls'

/** Fills in the defaults; do this once where many texts are decoded with the same options. */
export function decodeRules(options: DecodeOptions = {}): DecodeRules {
  // Name by name: a member that is present but undefined must not disable a limit.
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
    rawResults: options.rawResults,
    rawCalls: options.rawCalls,
    tooLargeCode: options.tooLargeCode ?? -32012,
    batchTooLargeCode: options.batchTooLargeCode ?? -32600,
  }
}

/** Returns the options with the size limit of a transport, unless they set one. */
export function withMaxBytes(options: DecodeOptions | undefined, maxBytes: number): DecodeOptions {
  return { ...options, maxBytes: options?.maxBytes ?? maxBytes }
}
