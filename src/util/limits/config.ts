import { type Limit, MiB } from './limit.ts'

/** Limits of the configuration file and the pin file of a router. */
export const configLimits = {
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
  configNodes: {
    default: 100_000,
    unit: 'count',
    meaning:
      'Values in a configuration file that is YAML, counting those that aliases repeat. A file with more is rejected.',
  },
  bundleBytes: {
    default: 256 * MiB,
    unit: 'bytes',
    meaning: 'Size of a bundle (`.mcpb`). A larger one is rejected before it is read.',
  },
  bundleUnpackedBytes: {
    default: 1024 * MiB,
    unit: 'bytes',
    meaning:
      'Size of all files of a bundle together. A bundle that declares more is rejected, and so is a file that is larger than declared.',
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
  pinRetryMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time after which a pin file that could not be written, as on a full disk, is written again.',
  },
  pinLockMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time after which a lock on the pin file that was not renewed is stale. Another process then takes it over.',
  },
} as const satisfies Record<string, Limit>
