import { base } from './requirements/base.ts'
import { caching } from './requirements/caching.ts'
import { elicitation } from './requirements/elicitation.ts'
import { http } from './requirements/http.ts'
import { httpStateless } from './requirements/http-stateless.ts'
import { lifecycle } from './requirements/lifecycle.ts'
import { resources } from './requirements/resources.ts'
import { rounds } from './requirements/rounds.ts'
import { sampling } from './requirements/sampling.ts'
import { stdio } from './requirements/stdio.ts'
import { tasks } from './requirements/tasks.ts'
import { tasksExtension } from './requirements/tasks-extension.ts'
import { tools } from './requirements/tools.ts'
import { utilities } from './requirements/utilities.ts'

/**
 * Everything that the five revisions of the Model Context Protocol say an implementation MUST or
 * SHOULD do, except for authorization.
 */
export const requirements = [
  ...base,
  ...lifecycle,
  ...stdio,
  ...http,
  ...httpStateless,
  ...utilities,
  ...caching,
  ...tools,
  ...resources,
  ...sampling,
  ...elicitation,
  ...rounds,
  ...tasks,
  ...tasksExtension,
]

export type RequirementId = (typeof requirements)[number]['id']

const ids: ReadonlySet<string> = new Set(requirements.map(({ id }) => id))

/** Returns whether there is a requirement with that id. */
export function isRequirement(id: string): id is RequirementId {
  return ids.has(id)
}

/**
 * Declares in a test which requirements the test shows: `proves('B2', 'B5')`.
 *
 * The ids are read from the source of the test, so they must be string literals there. Throws an Error
 * for an id that does not exist.
 */
export function proves(...shown: readonly RequirementId[]): void {
  const unknown = shown.filter(id => !isRequirement(id))
  if (unknown.length > 0) throw new Error(`there is no requirement ${unknown.join(', ')}`)
}
