import { address, boolean, enumeration, type Field } from '../field.ts'

/** `console` of a configuration file, as an object. */
export interface ConsoleSettings {
  /** The address of the console; by default those of the router. */
  readonly address?: string
  /** What viewers may do. */
  readonly actions?: 'all' | 'look'
  /** Whether the principals of callers are shown, or a digest of them. */
  readonly people?: 'shown' | 'hash'
  /** Whether viewers may record the arguments and results of calls. */
  readonly record?: boolean
}

/** Fields of `console`. */
export const consoleFields: Record<keyof ConsoleSettings, Field> = {
  address: {
    type: address('metrics'),
    meaning: 'A separate address for the console, of this machine. A string is the same as this.',
    default: '(every HTTP address of `listen` that only this machine reaches)',
    example: 'http://127.0.0.1:9091',
  },
  actions: {
    type: enumeration('all', 'look'),
    meaning: 'What viewers may do: everything, or only look.',
    default: 'all',
    example: 'look',
  },
  people: {
    type: enumeration('shown', 'hash'),
    meaning: 'Whether the principals of callers are shown as they are, or as digits of a digest.',
    default: 'shown',
    example: 'hash',
  },
  record: {
    type: boolean,
    meaning: 'Whether viewers may record the arguments and results of calls, for some minutes.',
    default: true,
    example: false,
  },
}
