import { type Limit, MiB } from './limit.ts'

/** Limits of the configuration file and the pin file of a router. */
export const config = {
  configBytes: {
    default: MiB,
    unit: 'bytes',
    meaning:
      'Size of the configuration file of a router. A larger file is rejected before it is parsed.',
  },
  configDepth: {
    default: 32,
    unit: 'count',
    meaning:
      'Nesting depth of objects and arrays in the configuration file. A deeper file is rejected.',
  },
  configDebounceMs: {
    default: 50,
    unit: 'ms',
    meaning:
      'Time the configuration file must stay unchanged before it is reloaded. Until then a write counts as incomplete.',
  },
  configPollMs: {
    default: 2000,
    unit: 'ms',
    meaning:
      'Polling interval for the configuration file where the file system reports no changes.',
  },
  pinFileBytes: {
    default: 64 * MiB,
    unit: 'bytes',
    meaning: 'Size of the pin file. A larger file is rejected before it is parsed.',
  },
  pinLockMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time a process may hold the lock on the pin file. An older lock is stale and is removed.',
  },
} as const satisfies Record<string, Limit>
