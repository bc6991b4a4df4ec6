import { application, design, november2025, stateless, under } from './table.ts'

/** Tasks as the extension defines them. */
export const tasksExtension = [
  ...under('seps/2663 / Capability Negotiation', stateless, [
    {
      id: 'X1',
      level: 'MUST',
      side: 'server',
      says: 'No task is made for a request that does not declare the extension, even if earlier ones did.',
    },
    {
      id: 'X2',
      level: 'MUST',
      side: 'client',
      says: 'A client that declares the extension takes a result or a task.',
    },
    {
      id: 'X3',
      level: 'MUST',
      side: 'client',
      says: 'A task in answer to a request that cannot be one is an invalid result.',
    },
    {
      id: 'X4',
      level: 'MUST',
      side: 'server',
      says: 'Where only a task would do, a request without the extension is refused with -32021 that names it.',
    },
  ]),
  ...under('seps/2663 / Supported Methods', stateless, [
    {
      id: 'X19',
      level: 'SHOULD',
      side: 'both',
      says: 'Further methods could become tasks without a new design.',
      beyond: design,
    },
  ]),
  ...under('seps/2663 / Polymorphic Results', stateless, [
    {
      id: 'X5',
      level: 'MUST',
      side: 'server',
      says: 'The result that makes a task has the `resultType` "task".',
    },
    { id: 'X5b', level: 'MUST', side: 'server', says: 'No other result has it.' },
  ]),
  ...under('seps/2663 / Task Creation', stateless, [
    {
      id: 'X6',
      level: 'MUST',
      side: 'server',
      says: 'A task can be read as soon as its id has been sent.',
    },
    {
      id: 'X7',
      level: 'SHOULD',
      side: 'server',
      says: 'Input requests before a task are completed before it is created.',
    },
  ]),
  ...under('seps/2663 / Task Polling', stateless, [
    { id: 'X8', level: 'SHOULD', side: 'client', says: 'Clients respect `pollIntervalMs`.' },
    {
      id: 'X8b',
      level: 'SHOULD',
      side: 'client',
      says: 'Clients poll until the task has ended or they cancel it.',
    },
    {
      id: 'X8c',
      level: 'SHOULD',
      side: 'client',
      says: 'Clients keep the ids of tasks over a restart.',
      beyond: application,
    },
    {
      id: 'X9',
      level: 'MUST',
      side: 'server',
      says: 'A task that is working or was cancelled has that status.',
    },
    {
      id: 'X9b',
      level: 'MUST',
      side: 'server',
      says: 'A task that needs input has all open `inputRequests`.',
    },
    {
      id: 'X9c',
      level: 'MUST',
      side: 'server',
      says: 'A task that is completed has its `result`.',
    },
    {
      id: 'X9e',
      level: 'MUST',
      side: 'server',
      says: 'A task that failed has its `error`.',
    },
    {
      id: 'X9f',
      level: 'MUST',
      side: 'server',
      says: 'The answer to `tasks/get` has the `resultType` "complete".',
    },
  ]),
  ...under('seps/2663 / Task Status', stateless, [
    {
      id: 'X10',
      level: 'MUST',
      side: 'client',
      says: 'The client looks at the `inputRequests` of a task that needs input.',
    },
    {
      id: 'X10b',
      level: 'SHOULD',
      side: 'client',
      says: 'The client answers them by `tasks/update`.',
    },
  ]),
  ...under('seps/2663 / Task Update Requests', stateless, [
    {
      id: 'X10c',
      level: 'MUST',
      side: 'client',
      says: 'What a task asks is treated as if the server had asked it directly.',
    },
    {
      id: 'X10d',
      level: 'SHOULD',
      side: 'client',
      says: 'No input request of a task is presented or answered twice.',
    },
    {
      id: 'X11',
      level: 'MUST',
      side: 'server',
      says: 'A key of `inputRequests` is used once in the life of a task.',
    },
    {
      id: 'X12',
      level: 'MUST',
      side: 'server',
      says: 'A `tasks/update` is answered with a complete and empty result.',
    },
    {
      id: 'X12b',
      level: 'SHOULD',
      side: 'server',
      says: 'Responses to input requests that are not open are ignored.',
    },
    {
      id: 'X12d',
      level: 'SHOULD',
      side: 'server',
      says: 'A `tasks/update` of an unknown task is answered with -32602.',
    },
  ]),
  ...under('seps/2663 / Task Cancellation', stateless, [
    {
      id: 'X13',
      level: 'MUST',
      side: 'server',
      says: 'A `tasks/cancel` is answered with a complete and empty result, even for a task that has ended.',
    },
    {
      id: 'X13c',
      level: 'MUST',
      side: 'client',
      says: 'A task is never cancelled by `notifications/cancelled`.',
    },
    {
      id: 'X13d',
      level: 'SHOULD',
      side: 'server',
      says: 'A `tasks/cancel` of an unknown task is answered with -32602.',
    },
  ]),
  ...under('seps/2663 / Task Status Notifications', stateless, [
    {
      id: 'X14',
      level: 'MUST',
      side: 'server',
      says: 'Asking for notifications of tasks without the extension is refused with -32021.',
    },
    {
      id: 'X14b',
      level: 'MUST',
      side: 'server',
      says: 'A notification of a task has everything that `tasks/get` returns.',
    },
    {
      id: 'X14c',
      level: 'MUST',
      side: 'server',
      says: 'No progress and no log messages are sent for tasks.',
    },
  ]),
  ...under('seps/2663 / Protocol Errors', stateless, [
    {
      id: 'X15',
      level: 'MUST',
      side: 'server',
      says: 'A `tasks/get` of an unknown task is answered with -32602.',
    },
    {
      id: 'X15b',
      level: 'MUST',
      side: 'server',
      says: 'Requests about tasks without the extension are refused with -32021.',
    },
    {
      id: 'X15c',
      level: 'MUST',
      side: 'server',
      says: 'A failure within the server is answered with -32603.',
    },
    {
      id: 'X15d',
      level: 'SHOULD',
      side: 'server',
      says: 'The messages of these errors say what is wrong.',
    },
  ]),
  ...under('seps/2663 / Task Execution Errors', stateless, [
    {
      id: 'X16',
      level: 'MUST',
      side: 'server',
      says: 'A task is `failed` only because of a JSON-RPC error.',
    },
    { id: 'X16b', level: 'MUST', side: 'server', says: 'A task that failed has that error.' },
    {
      id: 'X16c',
      level: 'MUST',
      side: 'server',
      says: 'A result with `isError` completes the task.',
    },
    {
      id: 'X16d',
      level: 'SHOULD',
      side: 'server',
      says: 'A task that failed says why in its `statusMessage`.',
    },
  ]),
  ...under('seps/2663 / Backward Compatibility', stateless, [
    {
      id: 'X17',
      level: 'MUST',
      side: 'server',
      says: 'The method `tasks/result` is answered with -32601.',
    },
    { id: 'X17b', level: 'MUST', side: 'server', says: 'The parameter `task` is ignored.' },
    {
      id: 'X17c',
      level: 'MUST',
      side: 'server',
      says: 'The capabilities of the older tasks are not advertised.',
    },
    {
      id: 'X17d',
      level: 'MUST',
      side: 'server',
      says: 'A client that declares the older capability alone has not declared the extension.',
    },
    {
      id: 'X17f',
      level: 'SHOULD',
      side: 'server',
      says: 'Such a client may still get and cancel tasks it made in the older way.',
    },
  ]),
  ...under('seps/2663 / Backward Compatibility', november2025, [
    {
      id: 'X17e',
      level: 'MUST',
      side: 'server',
      says: 'The extension has no effect in this revision.',
    },
  ]),
  ...under('seps/2663 / Security Implications', stateless, [
    { id: 'X18', level: 'MUST', side: 'server', says: 'The id of a task cannot be guessed.' },
    {
      id: 'X18b',
      level: 'MUST',
      side: 'server',
      says: 'Every request about a task is checked for the right to make it.',
    },
    {
      id: 'X18c',
      level: 'MUST',
      side: 'client',
      says: 'Input requests of tasks are trusted no more than others.',
      beyond: application,
    },
  ]),
]
