import {
  application,
  every,
  november2025,
  sessions,
  sinceMarch2025,
  stateless,
  under,
} from './table.ts'

/** Ping, cancellation, progress and logging. */
export const utilities = [
  ...under('basic/utilities/ping / Behavior Requirements', sessions, [
    {
      id: 'U1',
      level: 'MUST',
      side: 'both',
      says: 'The request `ping` is answered at once with an empty result.',
    },
  ]),
  ...under('basic/utilities/ping / Implementation Considerations', sessions, [
    {
      id: 'U1b',
      level: 'SHOULD',
      side: 'both',
      says: 'Pings are sent now and then to see whether the connection is alive.',
    },
    {
      id: 'U1c',
      level: 'SHOULD',
      side: 'both',
      says: 'How often pings are sent and how long an answer may take can be set, and neither is excessive by default.',
    },
  ]),
  ...under('basic/utilities/ping / Error Handling', sessions, [
    {
      id: 'U1f',
      level: 'SHOULD',
      side: 'both',
      says: 'A ping that is not answered in time counts as a lost connection.',
    },
    { id: 'U1g', level: 'SHOULD', side: 'both', says: 'Pings that failed are reported.' },
  ]),
  ...under('basic/patterns/cancellation / Behavior Requirements', every, [
    {
      id: 'U2',
      level: 'MUST',
      side: 'both',
      says: 'Only requests that the sender sent itself and that seem to be in progress are cancelled.',
    },
    {
      id: 'U2c',
      level: 'SHOULD',
      side: 'both',
      says: 'Work on a request that was cancelled stops, and what was held for it is freed.',
    },
    { id: 'U2e', level: 'SHOULD', side: 'both', says: 'Such a request gets no response.' },
    {
      id: 'U2f',
      level: 'SHOULD',
      side: 'both',
      says: 'A response that comes after all is ignored.',
    },
  ]),
  ...under('basic/patterns/cancellation / Timing Considerations', every, [
    {
      id: 'U2g',
      level: 'MUST',
      side: 'both',
      says: 'A cancellation that comes after the response does no harm.',
    },
  ]),
  ...under('basic/patterns/cancellation / Implementation Notes', every, [
    {
      id: 'U2h',
      level: 'SHOULD',
      side: 'both',
      says: 'The reason of a cancellation can be logged.',
    },
    {
      id: 'U2i',
      level: 'SHOULD',
      side: 'both',
      says: 'The user sees that cancelling was asked for.',
      beyond: application,
    },
  ]),
  ...under('basic/patterns/cancellation / Error Handling', every, [
    {
      id: 'U2j',
      level: 'SHOULD',
      side: 'both',
      says: 'Cancellations of unknown or finished requests, and malformed ones, are ignored.',
    },
  ]),
  ...under('basic/patterns/cancellation / Cancellation', stateless, [
    {
      id: 'U2k',
      level: 'SHOULD',
      side: 'client',
      says: 'A request that is no longer wanted is cancelled.',
    },
    {
      id: 'U4',
      level: 'MUST',
      side: 'server',
      says: 'A server that ends a `subscriptions/listen` sends `notifications/cancelled` with its id.',
    },
    {
      id: 'U4b',
      level: 'MUST',
      side: 'server',
      says: 'A server sends `notifications/cancelled` for no other purpose.',
    },
  ]),
  ...under('basic/utilities/cancellation / Behavior Requirements', november2025, [
    {
      id: 'U3',
      level: 'MUST',
      side: 'both',
      says: 'A request that became a task is cancelled by `tasks/cancel`, never by the notification.',
    },
  ]),
  ...under('schema / CancelledNotificationParams', november2025, [
    {
      id: 'U3b',
      level: 'MUST',
      side: 'both',
      says: 'A cancellation of any other request has its id.',
    },
  ]),
  ...under('basic/patterns/progress / Progress Flow', every, [
    { id: 'U5', level: 'MUST', side: 'both', says: 'A progress token is a string or an integer.' },
    {
      id: 'U5b',
      level: 'MUST',
      side: 'both',
      says: 'A progress token is used by one active request only.',
    },
    {
      id: 'U5c',
      level: 'MUST',
      side: 'both',
      says: 'Each progress notification of a request has more progress than the one before.',
    },
  ]),
  ...under('basic/patterns/progress / Progress Flow', sinceMarch2025, [
    {
      id: 'U5h',
      level: 'SHOULD',
      side: 'both',
      says: 'The message of a progress notification is for people to read.',
      beyond: application,
    },
  ]),
  ...under('basic/patterns/progress / Behavior Requirements', every, [
    {
      id: 'U5d',
      level: 'MUST',
      side: 'both',
      says: 'Both sides know which progress tokens are active, and progress is sent only for those.',
    },
  ]),
  ...under('basic/patterns/progress / Implementation Notes', every, [
    {
      id: 'U5e',
      level: 'MUST',
      side: 'both',
      says: 'Progress notifications stop when the request is finished.',
    },
    {
      id: 'U5g',
      level: 'SHOULD',
      side: 'both',
      says: 'Progress notifications are limited in number.',
    },
  ]),
  ...under('basic/utilities/progress / Behavior Requirements', november2025, [
    {
      id: 'U5i',
      level: 'MUST',
      side: 'both',
      says: 'The progress token of a request that became a task is used as long as the task lives.',
    },
    {
      id: 'U5j',
      level: 'MUST',
      side: 'both',
      says: 'Progress notifications stop when the task has ended.',
    },
  ]),
  ...under('server/utilities/logging / Capabilities', every, [
    {
      id: 'U7',
      level: 'MUST',
      side: 'server',
      says: 'A server that sends log messages declares the capability `logging`.',
    },
  ]),
  ...under('server/utilities/logging / Message Flow', sessions, [
    {
      id: 'U7j',
      level: 'MUST',
      side: 'server',
      says: 'After `logging/setLevel` only messages of that level and above are sent.',
    },
  ]),
  ...under('server/utilities/logging / Error Handling', sessions, [
    {
      id: 'U7b',
      level: 'SHOULD',
      side: 'server',
      says: 'A level that does not exist is answered with -32602, a failure to set it with -32603.',
    },
  ]),
  ...under('server/utilities/logging / Implementation Considerations', every, [
    { id: 'U7c', level: 'SHOULD', side: 'server', says: 'Log messages are limited in number.' },
    {
      id: 'U7d',
      level: 'SHOULD',
      side: 'server',
      says: 'Log messages have context in their data, and consistent logger names.',
      beyond: application,
    },
  ]),
  ...under('server/utilities/logging / Security', every, [
    {
      id: 'U7g',
      level: 'MUST',
      side: 'server',
      says: 'Log messages contain no secrets, no personal data and no internals that help an attacker.',
      beyond: application,
    },
    {
      id: 'U7h',
      level: 'SHOULD',
      side: 'server',
      says: 'What goes into log messages is checked and who sees them is controlled.',
      beyond: application,
    },
  ]),
  ...under('server/utilities/logging / Per-request log level', stateless, [
    {
      id: 'U8',
      level: 'MUST',
      side: 'server',
      says: 'No log message is sent for a request without a log level.',
    },
    {
      id: 'U8b',
      level: 'MUST',
      side: 'server',
      says: 'Log messages travel only on the way of the response of their request, before it.',
    },
    {
      id: 'U8c',
      level: 'MUST',
      side: 'server',
      says: 'No log message below the level of its request is sent.',
    },
  ]),
  ...under('server/utilities/logging / Error Handling', stateless, [
    {
      id: 'U8d',
      level: 'SHOULD',
      side: 'server',
      says: 'A request with a log level that does not exist is refused with -32602.',
    },
  ]),
  ...under('deprecated / Deprecated features', stateless, [
    {
      id: 'U12',
      level: 'SHOULD',
      side: 'both',
      says: 'New programs do without roots, sampling and logging, and old ones move away from them.',
      beyond: application,
    },
  ]),
]
