import { limits } from '../../util/limits/limits.ts'
import type { RawCalls, RawShape } from './raw-json.ts'

/** Options for decoding messages. The defaults of the limits are in `docs/limits.md`. */
export interface DecodeOptions {
  /** The size limit of a text, in bytes of UTF-8. */
  readonly maxBytes?: number
  /** The size limits by transport, where `maxBytes` is not set. */
  readonly sizes?: MessageSizes
  /** The maximum nesting of arrays and objects; 64 by default. */
  readonly maxDepth?: number
  /**
   * The limit of keys and values. By default it grows with the length of a message, so that large
   * tables pass, and small messages that become many objects do not.
   */
  readonly maxNodes?: number
  /** The maximum number of messages in a batch; 100 by default. */
  readonly maxBatch?: number
  /** The maximum length of a request id as text, in characters; 256 by default. */
  readonly maxIdLength?: number
  /** The maximum length of a method name, in characters; 256 by default. */
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

/** Size limits of messages in bytes, by the kind of transport. */
export interface MessageSizes {
  /** Over stdin and stdout. */
  readonly stdio?: number
  /** Over TCP, Unix sockets and named pipes. */
  readonly socket?: number
  /** Over HTTP. */
  readonly http?: number
  /** Over WebSockets. */
  readonly websocket?: number
}

/** DecodeOptions with every default filled in. */
export type DecodeRules = Required<Omit<DecodeOptions, RawOptions | 'sizes'>> &
  Pick<DecodeOptions, RawOptions> & {
    /** The length of a message that allows one key or value beyond `maxNodes`; may be infinite. */
    readonly nodeBytes: number
  }

type RawOptions = 'rawResults' | 'rawCalls'

/** Fills in the defaults; do this once where many texts are decoded with the same options. */
export function decodeRules(options: DecodeOptions = {}): DecodeRules {
  // Name by name: a member that is present but undefined must not disable a limit.
  return {
    maxBytes: options.maxBytes ?? limits.socketMessageBytes.default,
    maxDepth: options.maxDepth ?? limits.depth.default,
    maxNodes: options.maxNodes ?? limits.nodes.default,
    nodeBytes: options.maxNodes === undefined ? limits.nodeBytes.default : Number.POSITIVE_INFINITY,
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

/** Returns the rules for a text of this length: a long one may have more keys and values. */
export function rulesFor(length: number, rules: DecodeRules): DecodeRules {
  return length > rules.maxNodes * rules.nodeBytes
    ? { ...rules, maxNodes: Math.floor(length / rules.nodeBytes) }
    : rules
}

/** Returns the options with the size limit of a transport, unless they set one. */
export function withMaxBytes(
  options: DecodeOptions | undefined,
  transport: keyof MessageSizes,
  maxBytes: number,
): DecodeOptions {
  return { ...options, maxBytes: options?.maxBytes ?? options?.sizes?.[transport] ?? maxBytes }
}
