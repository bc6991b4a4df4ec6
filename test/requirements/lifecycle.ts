import {
  every,
  juneAndNovember2025,
  sessions,
  sinceMarch2025,
  stateless,
  under,
  untilMarch2025,
} from './table.ts'

/** Session initialization and stateless requests; versions and capabilities. */
export const lifecycle = [
  ...under('basic/lifecycle / Initialization', sessions, [
    {
      id: 'L1',
      level: 'MUST',
      side: 'client',
      says: 'The first thing a client sends is `initialize`.',
    },
    {
      id: 'L1b',
      level: 'MUST',
      side: 'client',
      says: 'The request `initialize` says the version, the capabilities and the name of the client.',
    },
    {
      id: 'L2e',
      level: 'MUST',
      side: 'server',
      says: 'The answer to `initialize` says the version, the capabilities and the name of the server.',
    },
    {
      id: 'L3',
      level: 'MUST',
      side: 'client',
      says: 'After the answer to `initialize` the client sends `notifications/initialized`.',
    },
    {
      id: 'L4',
      level: 'SHOULD',
      side: 'client',
      says: 'Until `initialize` is answered the client sends no other request than `ping`.',
    },
    {
      id: 'L4b',
      level: 'SHOULD',
      side: 'server',
      says: 'Until `notifications/initialized` comes the server sends no requests but `ping`, and only log messages besides.',
    },
  ]),
  ...under('basic/lifecycle / Version Negotiation', sessions, [
    {
      id: 'L1c',
      level: 'MUST',
      side: 'client',
      says: 'The client asks for a version that it supports.',
    },
    {
      id: 'L1d',
      level: 'SHOULD',
      side: 'client',
      says: 'The version the client asks for is the newest it supports.',
    },
    {
      id: 'L2',
      level: 'MUST',
      side: 'server',
      says: 'A version that the server supports is answered with the same version.',
    },
    {
      id: 'L2b',
      level: 'MUST',
      side: 'server',
      says: 'A version that the server does not support is answered with another one that it does.',
    },
    {
      id: 'L2c',
      level: 'SHOULD',
      side: 'server',
      says: 'That other version is the newest the server supports.',
    },
    {
      id: 'L2d',
      level: 'MUST',
      side: 'client',
      says: 'A client that does not support the version of the answer ends the connection.',
    },
  ]),
  ...under('basic/lifecycle / Operation', juneAndNovember2025, [
    {
      id: 'L5',
      level: 'MUST',
      side: 'both',
      says: 'Both sides keep to the version that was negotiated.',
    },
    {
      id: 'L5b',
      level: 'MUST',
      side: 'both',
      says: 'Both sides use only capabilities that were negotiated.',
    },
  ]),
  ...under('basic/lifecycle / Operation', untilMarch2025, [
    {
      id: 'L5c',
      level: 'SHOULD',
      side: 'both',
      says: 'Both sides keep to the version and the capabilities that were negotiated.',
    },
  ]),
  ...under('basic/utilities/cancellation / Behavior Requirements', sessions, [
    {
      id: 'L6',
      level: 'MUST',
      side: 'client',
      says: 'The request `initialize` is never cancelled.',
    },
  ]),
  ...under('basic/patterns/cancellation / Timeouts', every, [
    {
      id: 'L8',
      level: 'SHOULD',
      side: 'both',
      says: 'Every request that is sent has a time limit.',
    },
  ]),
  ...under('basic/patterns/cancellation / Timeouts', sinceMarch2025, [
    {
      id: 'L8b',
      level: 'SHOULD',
      side: 'both',
      says: 'A request whose time is up is cancelled, and its response not waited for.',
    },
    {
      id: 'L8c',
      level: 'SHOULD',
      side: 'both',
      says: 'The time limit can be set for each request.',
    },
    {
      id: 'L8d',
      level: 'SHOULD',
      side: 'both',
      says: 'There is a longest time that progress does not extend.',
    },
  ]),
  ...under('basic/transports/stdio / Shutdown', every, [
    {
      id: 'L9',
      level: 'SHOULD',
      side: 'client',
      says: 'A client ends a server on stdio by closing its input, and waits.',
    },
    {
      id: 'L9b',
      level: 'SHOULD',
      side: 'client',
      says: 'A server that does not end in time is terminated, at last by force.',
    },
  ]),
  ...under('basic/lifecycle / Error Handling', sessions, [
    {
      id: 'L10',
      level: 'SHOULD',
      side: 'both',
      says: 'A version or capabilities that do not match, and a request without an answer, end in an error that says so.',
    },
  ]),
  ...under('basic / `_meta`, Per-request protocol fields', stateless, [
    {
      id: 'V1',
      level: 'MUST',
      side: 'client',
      says: 'Every request says its protocol version and the capabilities of the client in `_meta`.',
    },
    {
      id: 'V1c',
      level: 'MUST',
      side: 'server',
      says: 'A request that lacks one of the two is refused with -32602.',
    },
    {
      id: 'V2',
      level: 'SHOULD',
      side: 'client',
      says: 'Every request says the name of the client, unless that is switched off.',
    },
    {
      id: 'V2b',
      level: 'MUST',
      side: 'server',
      says: 'A request without the name of the client is served.',
    },
    {
      id: 'V8',
      level: 'MUST',
      side: 'server',
      says: 'A request that needs a capability it does not declare is refused with -32021, which lists in `data.requiredCapabilities` what is missing.',
    },
    {
      id: 'V8c',
      level: 'MUST',
      side: 'server',
      says: 'The server uses no capability that the client has not declared.',
    },
  ]),
  ...under('schema / RequestMetaObject', stateless, [
    {
      id: 'V9',
      level: 'MUST',
      side: 'server',
      says: 'Capabilities of earlier requests do not count for later ones.',
    },
  ]),
  ...under('basic / `_meta`, Per-response protocol fields', stateless, [
    {
      id: 'V3',
      level: 'SHOULD',
      side: 'server',
      says: 'Every result says the name of the server in `_meta`, unless that is switched off.',
    },
    {
      id: 'V3b',
      level: 'SHOULD',
      side: 'both',
      says: 'Neither name changes the behavior of the peer, nor a security decision.',
    },
  ]),
  ...under('basic/versioning / Protocol Version Negotiation', stateless, [
    {
      id: 'V4',
      level: 'MUST',
      side: 'server',
      says: 'A version that the server does not serve is rejected with -32022, which names the requested version and the supported ones.',
    },
    {
      id: 'V5',
      level: 'SHOULD',
      side: 'client',
      says: 'The client picks a version of that list which it supports too, and tries again.',
    },
    {
      id: 'V5b',
      level: 'SHOULD',
      side: 'client',
      says: 'Without such a version the client informs its user.',
    },
    { id: 'V6', level: 'MUST', side: 'server', says: 'The server answers `server/discover`.' },
  ]),
  ...under('server/discover / DiscoverResult', stateless, [
    {
      id: 'V6b',
      level: 'MUST',
      side: 'server',
      says: 'The answer to `server/discover` says the versions and the capabilities of the server.',
    },
  ]),
  ...under('basic/transports/stdio / Backward Compatibility', stateless, [
    {
      id: 'V7',
      level: 'SHOULD',
      side: 'client',
      says: 'A client of both eras sends `server/discover` before anything else.',
    },
    {
      id: 'V7b',
      level: 'SHOULD',
      side: 'client',
      says: 'A client of the stateless era alone does so too.',
    },
    {
      id: 'V7c',
      level: 'MUST',
      side: 'client',
      says: 'Falling back to `initialize` does not depend on one particular error code.',
    },
    {
      id: 'V7d',
      level: 'MUST',
      side: 'client',
      says: 'An error that only a stateless server knows keeps the client from falling back.',
    },
    {
      id: 'V7e',
      level: 'SHOULD',
      side: 'client',
      says: 'No answer within a time means a server of the session era.',
    },
  ]),
  ...under('basic/versioning / Extension Negotiation', stateless, [
    {
      id: 'V10',
      level: 'MUST',
      side: 'both',
      says: 'The name of an extension is a `_meta` key with a prefix.',
    },
    {
      id: 'V10b',
      level: 'MUST',
      side: 'both',
      says: 'If the peer lacks an extension, the core behavior or an error takes its place.',
    },
    {
      id: 'V10c',
      level: 'SHOULD',
      side: 'both',
      says: 'The documentation of an extension says what happens then.',
    },
  ]),
  ...under(
    'basic/versioning / Backward Compatibility with Initialization-Based Versions',
    stateless,
    [
      {
        id: 'V11',
        level: 'SHOULD',
        side: 'server',
        says: 'A server without sessions names its versions in the error with which it refuses `initialize`.',
      },
      {
        id: 'V12',
        level: 'SHOULD',
        side: 'client',
        says: 'What era a server is of is found out once for its process or origin.',
      },
      {
        id: 'V12b',
        level: 'SHOULD',
        side: 'client',
        says: 'It is found out again when that turns out to be wrong.',
      },
    ],
  ),
  ...under('basic/versioning / Compatibility Matrix', stateless, [
    {
      id: 'V13',
      level: 'MUST',
      side: 'server',
      says: 'A server of both eras serves every request with per-request metadata without a session.',
    },
    {
      id: 'V13b',
      level: 'MUST',
      side: 'server',
      says: 'A server of both eras answers `initialize` and serves that client by the revision they agreed on.',
    },
  ]),
]
