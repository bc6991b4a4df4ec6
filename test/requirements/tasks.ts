import { application, november2025, under } from './table.ts'

/** Tasks as one revision defines them in its core. */
export const tasks = [
  ...under('basic/utilities/tasks / Capabilities', november2025, [
    {
      id: 'K1',
      level: 'MUST',
      side: 'both',
      says: 'A peer that accepts requests as tasks declares the capability `tasks`.',
    },
    {
      id: 'K2',
      level: 'SHOULD',
      side: 'both',
      says: 'Requests are sent as tasks only if the peer declares it for them.',
    },
  ]),
  ...under('basic/utilities/tasks / Task Support and Handling', november2025, [
    {
      id: 'K3',
      level: 'MUST',
      side: 'both',
      says: 'A peer that does not declare it for a request handles the request as usual and ignores the task metadata.',
    },
  ]),
  ...under('basic/utilities/tasks / Task ID Requirements', november2025, [
    {
      id: 'K4',
      level: 'MUST',
      side: 'both',
      says: 'The id of a task is a string that the receiver makes, and no two of its tasks have the same.',
    },
  ]),
  ...under('basic/utilities/tasks / Task Status Lifecycle', november2025, [
    { id: 'K5', level: 'MUST', side: 'both', says: 'A task begins as `working`.' },
    {
      id: 'K6',
      level: 'MUST',
      side: 'both',
      says: 'A task changes its status only in the ways that are allowed.',
    },
    {
      id: 'K6b',
      level: 'MUST',
      side: 'both',
      says: 'A task that has ended does not change its status.',
    },
  ]),
  ...under('basic/utilities/tasks / Input Required Status', november2025, [
    {
      id: 'K7',
      level: 'SHOULD',
      side: 'both',
      says: 'A task that needs something of the requestor is `input_required`.',
    },
    {
      id: 'K7b',
      level: 'MUST',
      side: 'both',
      says: 'What it asks carries the `related-task` metadata.',
    },
    {
      id: 'K7c',
      level: 'SHOULD',
      side: 'both',
      says: 'A requestor that sees `input_required` calls `tasks/result`.',
    },
    {
      id: 'K7d',
      level: 'SHOULD',
      side: 'both',
      says: 'A task that has got its input is `working` again.',
    },
  ]),
  ...under('basic/utilities/tasks / TTL and Resource Management', november2025, [
    {
      id: 'K8',
      level: 'MUST',
      side: 'both',
      says: 'Every task that is sent has the times of its creation and of its last update.',
    },
    {
      id: 'K8c',
      level: 'MUST',
      side: 'both',
      says: 'The answer to `tasks/get` says the real `ttl`, or null.',
    },
    { id: 'K8d', level: 'SHOULD', side: 'both', says: 'Requestors respect the `pollInterval`.' },
  ]),
  ...under('basic/utilities/tasks / Getting Tasks', november2025, [
    {
      id: 'K8e',
      level: 'SHOULD',
      side: 'both',
      says: 'Requestors poll until the task has ended or needs input, regardless of notifications.',
    },
  ]),
  ...under('basic/utilities/tasks / Result Retrieval', november2025, [
    {
      id: 'K9',
      level: 'MUST',
      side: 'both',
      says: 'A request taken as a task is answered with a `CreateTaskResult`.',
    },
    { id: 'K9b', level: 'SHOULD', side: 'both', says: 'That answer does not wait for the work.' },
    {
      id: 'K10',
      level: 'MUST',
      side: 'both',
      says: 'For a task that has ended, `tasks/result` gives exactly what the request gave, be it an error.',
    },
    {
      id: 'K10b',
      level: 'MUST',
      side: 'both',
      says: 'For a task that has not ended, `tasks/result` waits.',
    },
  ]),
  ...under('basic/utilities/tasks / Associating Task-Related Messages', november2025, [
    {
      id: 'K11',
      level: 'MUST',
      side: 'both',
      says: 'All messages that belong to a task carry the `related-task` metadata.',
    },
    {
      id: 'K11b',
      level: 'MUST',
      side: 'both',
      says: 'In `tasks/get`, `tasks/result` and `tasks/cancel` the parameter `taskId` counts, regardless of the metadata.',
    },
    {
      id: 'K11c',
      level: 'SHOULD',
      side: 'both',
      says: 'Requests about tasks carry no such metadata, nor do the results of `tasks/get`, `tasks/list` and `tasks/cancel`.',
    },
  ]),
  ...under('basic/utilities/tasks / Related Task Metadata', november2025, [
    { id: 'K11e', level: 'MUST', side: 'both', says: 'The result of `tasks/result` carries it.' },
  ]),
  ...under('basic/utilities/tasks / Task Notifications', november2025, [
    {
      id: 'K12',
      level: 'MUST',
      side: 'both',
      says: 'Requestors do not count on `notifications/tasks/status`.',
    },
    {
      id: 'K12b',
      level: 'SHOULD',
      side: 'both',
      says: 'Such a notification carries no `related-task` metadata.',
    },
  ]),
  ...under('basic/utilities/tasks / Task Listing', november2025, [
    { id: 'K13', level: 'SHOULD', side: 'both', says: 'Lists of tasks come in pages.' },
    {
      id: 'K13b',
      level: 'MUST',
      side: 'both',
      says: 'Where more tasks follow there is a `nextCursor`.',
    },
    {
      id: 'K13d',
      level: 'MUST',
      side: 'both',
      says: 'A task that `tasks/get` finds, `tasks/list` lists.',
    },
  ]),
  ...under('basic/utilities/tasks / Task Cancellation', november2025, [
    {
      id: 'K14',
      level: 'MUST',
      side: 'both',
      says: 'Cancelling a task that has ended is answered with -32602.',
    },
    { id: 'K14b', level: 'SHOULD', side: 'both', says: 'Cancelling a task stops its work.' },
    {
      id: 'K14c',
      level: 'MUST',
      side: 'both',
      says: 'A task is `cancelled` before its cancellation is answered.',
    },
    { id: 'K14d', level: 'MUST', side: 'both', says: 'It stays so, even if its work continues.' },
    {
      id: 'K14e',
      level: 'SHOULD',
      side: 'both',
      says: 'Requestors do not count on finding a task after they cancelled it.',
    },
  ]),
  ...under('basic/utilities/tasks / Protocol Errors', november2025, [
    {
      id: 'K15',
      level: 'MUST',
      side: 'both',
      says: 'A task that does not exist is answered with -32602.',
    },
    {
      id: 'K15b',
      level: 'MUST',
      side: 'both',
      says: 'A cursor of `tasks/list` that is not good is answered with -32602.',
    },
    {
      id: 'K15c',
      level: 'MUST',
      side: 'both',
      says: 'A failure within the receiver is answered with -32603.',
    },
    {
      id: 'K15d',
      level: 'SHOULD',
      side: 'both',
      says: 'The messages of these errors say what is wrong.',
    },
  ]),
  ...under('basic/utilities/tasks / Task Execution Errors', november2025, [
    {
      id: 'K15e',
      level: 'SHOULD',
      side: 'both',
      says: 'A task whose tool gave a result with `isError` is `failed`.',
    },
    {
      id: 'K15f',
      level: 'SHOULD',
      side: 'both',
      says: 'A task that failed says why in its `statusMessage`.',
    },
  ]),
  ...under('basic/utilities/tasks / Task Isolation and Access Control', november2025, [
    {
      id: 'K16',
      level: 'MUST',
      side: 'both',
      says: 'A task belongs to the authorization context that made it.',
    },
    {
      id: 'K16b',
      level: 'MUST',
      side: 'both',
      says: 'Without such a context, the id of a task cannot be guessed.',
    },
    {
      id: 'K16c',
      level: 'SHOULD',
      side: 'both',
      says: 'A receiver that cannot distinguish requestors does not declare `tasks.list`.',
    },
    {
      id: 'K16d',
      level: 'MUST',
      side: 'both',
      says: 'Tasks of another context are neither returned, cancelled nor listed.',
    },
    {
      id: 'K16f',
      level: 'SHOULD',
      side: 'both',
      says: 'The documentation says where tasks are protected by their ids alone.',
    },
    {
      id: 'K16g',
      level: 'SHOULD',
      side: 'both',
      says: 'The number of requests about tasks in a time can be limited.',
    },
  ]),
  ...under('basic/utilities/tasks / Resource Management', november2025, [
    {
      id: 'K17',
      level: 'SHOULD',
      side: 'both',
      says: 'The number of tasks of one requestor is limited.',
    },
    { id: 'K17b', level: 'SHOULD', side: 'both', says: 'The `ttl` has an upper limit.' },
    {
      id: 'K17c',
      level: 'SHOULD',
      side: 'both',
      says: 'Tasks that have expired are removed soon.',
    },
    { id: 'K17d', level: 'SHOULD', side: 'both', says: 'The documentation says these limits.' },
    {
      id: 'K17e',
      level: 'SHOULD',
      side: 'both',
      says: 'The use of resources is watched.',
      beyond: application,
    },
  ]),
  ...under('basic/utilities/tasks / Audit and Logging', november2025, [
    {
      id: 'K18',
      level: 'SHOULD',
      side: 'both',
      says: 'What happens to tasks is logged, with who asked for it.',
      beyond: application,
    },
  ]),
]
