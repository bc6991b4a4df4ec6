import { stateless, under } from './table.ts'

/** Multi-round requests, and subscriptions. */
export const rounds = [
  ...under('basic/patterns/mrtr / Multi Round-Trip Requests', stateless, [
    {
      id: 'M1',
      level: 'MUST',
      side: 'server',
      says: 'What a server wants of the client it asks in a result that requires input.',
    },
  ]),
  ...under('basic/patterns/mrtr / Supported Requests', stateless, [
    {
      id: 'M2',
      level: 'MUST',
      side: 'server',
      says: 'Only `tools/call`, `prompts/get` and `resources/read` are answered with a request for input.',
    },
  ]),
  ...under('basic/patterns/mrtr / Server Requirements', stateless, [
    {
      id: 'M3',
      level: 'MUST',
      side: 'server',
      says: 'A result that requires input has `inputRequests`, `requestState`, or both.',
    },
    {
      id: 'M4',
      level: 'MUST',
      side: 'server',
      says: 'The keys of `inputRequests` differ from each other.',
    },
    {
      id: 'M5',
      level: 'MUST',
      side: 'server',
      says: 'What is asked is an elicitation, a sampling or the roots.',
    },
    {
      id: 'M6',
      level: 'MUST',
      side: 'server',
      says: 'Nothing is asked that the client has not declared.',
    },
    {
      id: 'M7',
      level: 'MUST',
      side: 'server',
      says: "The `requestState` that comes back is treated as an attacker's, and protected against change where it matters.",
    },
    {
      id: 'M7c',
      level: 'MUST',
      side: 'server',
      says: 'A `requestState` that was changed is refused.',
    },
    {
      id: 'M8',
      level: 'SHOULD',
      side: 'server',
      says: 'A `requestState` of another principal is refused.',
    },
    {
      id: 'M8b',
      level: 'SHOULD',
      side: 'server',
      says: 'A `requestState` that is too old is refused.',
    },
    {
      id: 'M8c',
      level: 'SHOULD',
      side: 'server',
      says: 'A `requestState` of another request is refused.',
    },
    {
      id: 'M8d',
      level: 'MUST',
      side: 'server',
      says: 'What may happen once only is kept from happening twice by the server itself.',
    },
    {
      id: 'M9',
      level: 'MUST',
      side: 'server',
      says: 'The server does not count on the client to answer or to try again.',
    },
  ]),
  ...under('basic/patterns/mrtr / Client Requirements', stateless, [
    {
      id: 'M10',
      level: 'MUST',
      side: 'client',
      says: 'Everything that was asked is answered before the request is sent again.',
    },
    {
      id: 'M11',
      level: 'MUST',
      side: 'client',
      says: 'The `requestState` is sent back exactly as it came, unread.',
    },
    {
      id: 'M11c',
      level: 'MUST',
      side: 'client',
      says: 'Where there was no `requestState`, none is sent.',
    },
    {
      id: 'M12',
      level: 'MUST',
      side: 'client',
      says: 'The request that is sent again has another id.',
    },
    {
      id: 'M13',
      level: 'MUST',
      side: 'client',
      says: 'Answers and state go into that request and no other.',
    },
  ]),
  ...under('basic/patterns/mrtr / Error Handling', stateless, [
    {
      id: 'M14',
      level: 'SHOULD',
      side: 'server',
      says: 'The answers that arrive are validated, and those of the wrong shape refused with a JSON-RPC error.',
    },
    {
      id: 'M15',
      level: 'SHOULD',
      side: 'server',
      says: 'Responses without a request are ignored.',
    },
    {
      id: 'M16',
      level: 'SHOULD',
      side: 'server',
      says: 'For answers that are missing the server asks again.',
    },
  ]),
  ...under('basic/patterns/subscriptions / Opening a Stream', stateless, [
    {
      id: 'Q1',
      level: 'MUST',
      side: 'server',
      says: 'Only the kinds of notifications that were asked for are sent.',
    },
    {
      id: 'Q13',
      level: 'MUST',
      side: 'server',
      says: 'Updates are sent only for subscribed resources.',
    },
  ]),
  ...under('basic/patterns/subscriptions / Acknowledgment', stateless, [
    {
      id: 'Q2',
      level: 'MUST',
      side: 'server',
      says: 'The first message of a subscription is `notifications/subscriptions/acknowledged`, and nothing is sent before it.',
    },
    {
      id: 'Q3',
      level: 'MUST',
      side: 'server',
      says: 'The acknowledgment names what the server agrees to, and leaves out what it does not support.',
    },
    {
      id: 'Q4',
      level: 'SHOULD',
      side: 'client',
      says: 'The client compares that with what it asked for.',
    },
  ]),
  ...under('basic / `_meta`, Per-response protocol fields, subscriptions', stateless, [
    {
      id: 'Q5',
      level: 'MUST',
      side: 'server',
      says: 'Every notification of a subscription carries the id of its request as `subscriptionId`, of the same type.',
    },
  ]),
  ...under('basic/patterns/subscriptions / Graceful Closure', stateless, [
    {
      id: 'Q7',
      level: 'SHOULD',
      side: 'server',
      says: 'A server that ends a subscription answers its request first.',
    },
    {
      id: 'Q7b',
      level: 'MUST',
      side: 'server',
      says: 'That answer carries the `subscriptionId` too.',
    },
    { id: 'Q9', level: 'MUST', side: 'server', says: 'No subscription outlives its connection.' },
  ]),
  ...under('basic/patterns/subscriptions / Multiple Concurrent Subscriptions', stateless, [
    {
      id: 'Q8',
      level: 'MUST',
      side: 'server',
      says: 'Several subscriptions of one client are served side by side.',
    },
  ]),
  ...under('basic/patterns/subscriptions / Cancellation', stateless, [
    {
      id: 'Q12',
      level: 'MUST',
      side: 'server',
      says: 'After the client has cancelled a subscription, nothing more is sent on it.',
    },
  ]),
  ...under('server/utilities/logging / Per-request log level, subscriptions', stateless, [
    {
      id: 'Q11',
      level: 'MUST',
      side: 'server',
      says: 'Log messages and progress do not travel on subscriptions.',
    },
  ]),
]
