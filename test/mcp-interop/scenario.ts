import type { Answers } from './driver.ts'
import type { Step } from './outcome.ts'
import { askingSteps } from './steps/asking.ts'
import { promptSteps } from './steps/prompts.ts'
import { resourceSteps } from './steps/resources.ts'
import { toolSteps } from './steps/tools.ts'
import { elicitations } from './surface.js'

const answersTo = new Map<string, Readonly<Record<string, string>>>([
  [elicitations.first, { word: 'hello' }],
  [elicitations.second, { word: 'world' }],
  [elicitations.addressee, { word: 'Grace' }],
])

/** The user and the model behind the client of every scenario: they depend on the request alone. */
export const answers: Answers = {
  elicit({ message, mode }) {
    if (message.includes('decline')) return { action: 'decline' }
    if (message.includes('cancel')) return { action: 'cancel' }
    if (mode === 'url') return { action: 'accept' }
    return { action: 'accept', content: answersTo.get(message) ?? { name: 'Ada', age: 36 } }
  },
  sample: words => words.toUpperCase(),
  model: 'a-model',
  roots: [{ uri: 'file:///work', name: 'work' }, { uri: 'file:///home' }],
}

/**
 * Every feature of the protocol against the fixture of `surface.js`, for any server. The steps share a
 * connection and need no order. Tasks are excluded: the packages have no common API for them.
 */
export const scenario: readonly Step[] = [
  ...toolSteps,
  ...askingSteps,
  ...resourceSteps,
  ...promptSteps,
]
