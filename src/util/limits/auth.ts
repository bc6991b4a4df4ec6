import { KiB, type Limit, MiB } from './limit.ts'

/** Limits of authorization: of servers that authenticate callers, and of clients that authorize requests. */
export const authLimits = {
  tokenBytes: {
    default: 8 * KiB,
    unit: 'bytes',
    meaning: 'Length of an access token. A request with a longer one gets 400.',
  },
  verifiedTokens: {
    default: 10_000,
    unit: 'count',
    meaning:
      'Tokens whose verification is cached. The least recently used one is dropped and verified anew.',
  },
  verifiedTokenBytes: {
    default: 16 * MiB,
    unit: 'bytes',
    meaning: 'Length of all cached tokens together. The least recently used ones are dropped.',
  },
  tokenChecks: {
    default: 64,
    unit: 'count',
    meaning: 'Tokens that are verified at a time. Further requests wait.',
  },
  tokenChecksWaiting: {
    default: 1000,
    unit: 'count',
    meaning: 'Requests that wait until their token is verified. Further ones get 503.',
  },
  tokenChecksWaitMs: {
    default: 2000,
    unit: 'ms',
    meaning: 'How long a request waits until its token is verified. Then it gets 503.',
  },
  verifierMs: {
    default: 5000,
    unit: 'ms',
    meaning: 'How long a custom verifier may take. Then the request gets 503.',
  },
  tokenFailures: {
    default: 20,
    unit: 'count',
    meaning:
      'Invalid tokens of one client address within `tokenFailuresMs`. Further requests with a token that is not cached get 429.',
  },
  tokenFailuresMs: {
    default: 10_000,
    unit: 'ms',
    meaning: 'The period in which invalid tokens of a client address are counted.',
  },
  tokenFailureAddresses: {
    default: 10_000,
    unit: 'count',
    meaning: 'Client addresses whose invalid tokens are counted. The oldest one is forgotten.',
  },
  clockSkewMs: {
    default: 30_000,
    unit: 'ms',
    meaning: 'How far the clock of an issuer may differ from the clock of this machine.',
  },
  keySetMs: {
    default: 600_000,
    unit: 'ms',
    meaning:
      'How long the keys of an issuer are used before they are fetched again, unless its response says otherwise (1 minute to 24 hours).',
  },
  keySetCooldownMs: {
    default: 30_000,
    unit: 'ms',
    meaning:
      'Minimum time between two fetches of the keys of an issuer because of an unknown key. Tokens with such a key are invalid meanwhile.',
  },
  keySetStaleMs: {
    default: 86_400_000,
    unit: 'ms',
    meaning:
      'How long the keys of an issuer are used while it cannot be reached. Then requests get 503.',
  },
  keySetBytes: {
    default: 256 * KiB,
    unit: 'bytes',
    meaning: 'Size of the key set of an issuer. A larger one is rejected.',
  },
  keySetKeys: {
    default: 100,
    unit: 'count',
    meaning: 'Keys of one issuer. Further ones are ignored.',
  },
  introspectionMs: {
    default: 30_000,
    unit: 'ms',
    meaning: 'How long a positive answer of token introspection is used.',
  },
  introspectionNegativeMs: {
    default: 5000,
    unit: 'ms',
    meaning: 'How long a negative answer of token introspection is used.',
  },
  introspectionNegatives: {
    default: 1000,
    unit: 'count',
    meaning: 'Negative answers of token introspection that are cached. The oldest is dropped.',
  },
  introspectionFailures: {
    default: 10,
    unit: 'count',
    meaning:
      'Failures of the introspection endpoint in a row. Then requests get 503 for 5 seconds without asking it.',
  },
  dpopProofMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Age of a DPoP proof. An older one is rejected.',
  },
  dpopReplays: {
    default: 100_000,
    unit: 'count',
    meaning:
      'DPoP proofs that are remembered, to reject a second use. When all are in use, requests with a proof get 503.',
  },
  dpopNonceMs: {
    default: 300_000,
    unit: 'ms',
    meaning: 'How long a DPoP nonce is valid; the one before it is accepted too.',
  },
  apiKeys: {
    default: 100_000,
    unit: 'count',
    meaning: 'API keys of one file or program. A file with more is rejected.',
  },
  keyFileBytes: {
    default: 64 * MiB,
    unit: 'bytes',
    meaning: 'Size of a file of API keys. A larger one is rejected.',
  },
  keyFileCheckMs: {
    default: 500,
    unit: 'ms',
    meaning: 'How often a file of API keys is checked for changes.',
  },
  socketAuthMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'How long a client of a socket may take to send its token. Then the connection is closed.',
  },
  expiredDrainMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'How long requests in flight may run on a WebSocket or a socket after the token of its caller has expired. Then it is closed.',
  },
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
  lockPollMs: {
    default: 50,
    unit: 'ms',
    meaning: 'Interval in which a process looks whether a lock file is free.',
  },
  exchangedTokens: {
    default: 10_000,
    unit: 'count',
    meaning:
      'Callers and servers for which exchanged tokens are kept. The least recently used token is dropped and requested anew.',
  },
  ticketMs: {
    default: 600_000,
    unit: 'ms',
    meaning:
      'How long the link is valid by which a user allows a router to act for them, and how long each step on its pages may take.',
  },
  connectFlows: {
    default: 10_000,
    unit: 'count',
    meaning:
      'Users that are on the pages of a router at a time. The one who began first has to begin again.',
  },
  connectFormBytes: {
    default: 16 * KiB,
    unit: 'bytes',
    meaning: 'Size of the form of a page of a router. A larger one gets 413.',
  },
  storedEntries: {
    default: 10_000,
    unit: 'count',
    meaning: 'Entries of a token store in memory. The oldest is dropped.',
  },
  devIssuerEntries: {
    default: 10_000,
    unit: 'count',
    meaning:
      'Clients, login pages, codes and tokens, of each kind, that `devIssuer` remembers. The oldest is forgotten.',
  },
  devIssuerBodyBytes: {
    default: 64 * KiB,
    unit: 'bytes',
    meaning: 'Size of a request to `devIssuer`. A larger one gets 413.',
  },
  devIssuerCodeMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Time within which a client redeems the authorization code of a `devIssuer`.',
  },
} as const satisfies Record<string, Limit>
