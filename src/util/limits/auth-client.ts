import { KiB, type Limit } from './limit.ts'

/** Limits of clients that authorize their requests. */
export const authClientLimits = {
  challengeBytes: {
    default: 2 * KiB,
    unit: 'bytes',
    meaning: 'Length of a parameter in `WWW-Authenticate`. A longer one is ignored.',
  },
  challengeScopes: {
    default: 100,
    unit: 'count',
    meaning: 'Scopes that a challenge may ask for. A challenge with more asks for none.',
  },
  metadataBytes: {
    default: 256 * KiB,
    unit: 'bytes',
    meaning: 'Size of a metadata document. A larger one fails authorization.',
  },
  metadataMs: {
    default: 5000,
    unit: 'ms',
    meaning: 'Time in which a metadata document must arrive. Then authorization fails.',
  },
  metadataRedirects: {
    default: 3,
    unit: 'count',
    meaning: 'Redirects within its origin that a request for a metadata document follows.',
  },
  discoveryMs: {
    default: 600_000,
    unit: 'ms',
    meaning:
      'Time for which a client remembers the metadata of a server and its authorization server.',
  },
  tokenAnswerBytes: {
    default: 64 * KiB,
    unit: 'bytes',
    meaning: 'Size of a response of a token endpoint. A larger one fails authorization.',
  },
  tokenRequestMs: {
    default: 30_000,
    unit: 'ms',
    meaning:
      'Time in which a token endpoint must respond. Then the request fails; no token is lost.',
  },
  refreshAheadMs: {
    default: 60_000,
    unit: 'ms',
    meaning:
      'Time before its expiry from which a token is renewed; at most a tenth of its lifetime.',
  },
  refreshWaitMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time that a request waits for the renewal of a token that has not expired yet. Then the old one is sent.',
  },
  refreshRetryMs: {
    default: 1000,
    unit: 'ms',
    meaning: 'Time before a token is renewed again after a failure; doubled for each further one.',
  },
  refreshRetryMaxMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Longest time before a token is renewed again after a failure.',
  },
  loginMs: {
    default: 300_000,
    unit: 'ms',
    meaning: 'Time that a user has to log in. Then the request that needs it fails.',
  },
  flowMs: {
    default: 600_000,
    unit: 'ms',
    meaning: 'Time within which `finish` accepts the callback of a login that `begin` has started.',
  },
  stepUps: {
    default: 2,
    unit: 'count',
    meaning:
      'Authorizations for more scopes per operation within `stepUpMs`. Then the operation fails with `step-up-limit`.',
  },
  stepUpMs: {
    default: 600_000,
    unit: 'ms',
    meaning: 'The time in which such authorizations are counted.',
  },
  stepUpOperations: {
    default: 1000,
    unit: 'count',
    meaning: 'Operations for which such authorizations are counted. The oldest is forgotten.',
  },
  requestAuthorizations: {
    default: 3,
    unit: 'count',
    meaning: 'Authorizations on behalf of one request. Then it fails.',
  },
  storeLockMs: {
    default: 30_000,
    unit: 'ms',
    meaning:
      'Time after which the lock of a token file counts as abandoned, if its process does not renew it.',
  },
  storePollMs: {
    default: 50,
    unit: 'ms',
    meaning: 'Interval in which a process looks whether a lock of a token file is free.',
  },
  storedEntries: {
    default: 10_000,
    unit: 'count',
    meaning: 'Entries of a token store in memory. The oldest is dropped.',
  },
} as const satisfies Record<string, Limit>
