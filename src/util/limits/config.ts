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
  pinFileBytes: {
    default: 64 * MiB,
    unit: 'bytes',
    meaning: 'The file of pinned tools. A longer one is refused before it is parsed.',
  },
  pinLockMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time a process may keep the file of pinned tools to itself. A lock that is older was left behind, and is taken away.',
  },
} as const satisfies Record<string, Limit>
