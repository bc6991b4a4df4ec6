import { every, march2025, sessions, sinceNovember2025, stateless, under } from './table.ts'

/** The stdio transport, and transports other than HTTP. */
export const stdio = [
  ...under('basic/transports/stdio / stdio', every, [
    {
      id: 'T1',
      level: 'MUST',
      side: 'both',
      says: 'Messages end with a line feed and contain none.',
    },
    {
      id: 'T1b',
      level: 'MUST',
      side: 'server',
      says: 'Nothing but messages is written to stdout.',
    },
    {
      id: 'T1c',
      level: 'MUST',
      side: 'client',
      says: 'Nothing but messages is written to the input of the server.',
    },
  ]),
  ...under('basic/transports/stdio / stdio', sinceNovember2025, [
    {
      id: 'T2',
      level: 'SHOULD',
      side: 'client',
      says: 'What comes on stderr does not count as an error.',
    },
  ]),
  ...under('basic/transports / stdio', march2025, [
    { id: 'T3', level: 'MUST', side: 'both', says: 'A batch stands on one line.' },
  ]),
  ...under('basic/transports/stdio / Sending Messages, Receiving Messages', stateless, [
    {
      id: 'T4',
      level: 'MUST',
      side: 'client',
      says: 'The client writes no responses, and the server no requests.',
    },
  ]),
  ...under('basic/transports/stdio / Receiving Messages', stateless, [
    {
      id: 'T6',
      level: 'MUST',
      side: 'client',
      says: 'Notifications of subscriptions are distinguished by their `subscriptionId`.',
    },
  ]),
  ...under('basic/transports/stdio / Cancellation', stateless, [
    {
      id: 'T5',
      level: 'MUST',
      side: 'client',
      says: 'A request is cancelled by `notifications/cancelled` with its id.',
    },
    {
      id: 'T5b',
      level: 'MUST',
      side: 'server',
      says: 'Nothing more is sent for a request that was cancelled.',
    },
  ]),
  ...under('basic/transports/stdio / Shutdown', stateless, [
    {
      id: 'T7',
      level: 'SHOULD',
      side: 'server',
      says: 'The server ends soon after its input ends.',
    },
  ]),
  ...under('basic/transports/stdio / Unexpected Termination', stateless, [
    {
      id: 'T7b',
      level: 'SHOULD',
      side: 'client',
      says: 'A server that ended by itself is started again.',
    },
  ]),
  ...under('basic/patterns/subscriptions / Graceful Closure', stateless, [
    {
      id: 'T7c',
      level: 'MUST',
      side: 'client',
      says: 'After a new connection the client sends its `subscriptions/listen` again.',
    },
  ]),
  ...under('basic/transports / Custom Transports', stateless, [
    {
      id: 'T8',
      level: 'SHOULD',
      side: 'both',
      says: 'Other byte streams, such as TCP and Unix sockets, use the framing of stdio.',
    },
  ]),
  ...under('basic/transports / Custom Transports', every, [
    {
      id: 'T8b',
      level: 'MUST',
      side: 'both',
      says: 'Other transports keep the message format and the lifecycle, or the patterns and the metadata of each request.',
    },
    {
      id: 'T8c',
      level: 'SHOULD',
      side: 'both',
      says: 'The documentation of a transport says how connections are made, messages framed and requests cancelled.',
    },
  ]),
  ...under('basic/transports / Standard transports', sessions, [
    { id: 'T9', level: 'SHOULD', side: 'client', says: 'Clients can use stdio.' },
  ]),
  ...under('basic/transports / Messages', stateless, [
    {
      id: 'T10',
      level: 'MUST',
      side: 'both',
      says: 'A transport carries requests and notifications to the server, and responses and notifications to the client.',
    },
  ]),
]
