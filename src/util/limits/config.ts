import { type Limit, MiB } from './limit.ts'

/** The configuration file of the router. */
export const config = {
  configBytes: {
    default: MiB,
    unit: 'bytes',
    meaning: 'The configuration file of a router. A longer one is refused before it is parsed.',
  },
  configDepth: {
    default: 32,
    unit: 'count',
    meaning: 'Objects and lists within each other in that file. A deeper one is refused.',
  },
  configQuietMs: {
    default: 50,
    unit: 'ms',
    meaning:
      'Time that file must stay the same after a change. Until then it counts as being written.',
  },
  configPollMs: {
    default: 2000,
    unit: 'ms',
    meaning: 'How often that file is looked at where the system cannot tell of changes.',
  },
} as const satisfies Record<string, Limit>
