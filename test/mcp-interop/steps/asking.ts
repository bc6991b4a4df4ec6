import { always, answered, changing, type Row, refused, type Step } from '../outcome.ts'
import { texts } from '../surface.js'

/** What a tool says after it has asked the client something. */
const says = (tool: string, args?: object): Step['run'] => {
  return async driver => {
    const { content, isError } = await driver.callTool(tool, args)
    return isError ? { isError, content } : content[0]?.text
  }
}

/** Before there are forms, a tool that asks has nobody to ask. */
const sinceForms = (words: unknown): readonly Row[] =>
  changing(refused(-32601), '2025-06-18', answered(words))

/** What a server asks of the client while it answers: in sessions by a call, without by an answer. */
export const askingSteps: readonly Step[] = [
  {
    name: 'a form that is filled in comes back',
    run: says('asks', { how: 'accept' }),
    expected: sinceForms('accept: Ada, 36'),
  },
  {
    name: 'a form that is declined comes back as declined',
    run: says('asks', { how: 'decline' }),
    expected: sinceForms('decline'),
  },
  {
    name: 'a form that is cancelled comes back as cancelled',
    run: says('asks', { how: 'cancel' }),
    expected: sinceForms('cancel'),
  },
  {
    name: 'a tool asks twice, and knows the first answer at the end',
    run: says('asks-twice'),
    expected: sinceForms('hello world'),
  },
  {
    name: 'calls at the same time ask their own questions',
    run: driver =>
      Promise.all(['accept', 'decline', 'cancel'].map(how => says('asks', { how })(driver))),
    expected: sinceForms(['accept: Ada, 36', 'decline', 'cancel']),
  },
  {
    name: 'a visit to an address is consented to',
    run: says('asks-url'),
    expected: changing(refused(-32601), '2025-11-25', answered('accept')),
  },
  {
    name: 'a prompt asks before it answers',
    run: driver => driver.getPrompt('asked'),
    expected: sinceForms([
      { role: 'user', content: { type: 'text', text: texts.greeting('Grace', 'mild') } },
    ]),
  },
  {
    name: 'the model of the client is asked',
    run: says('samples', { prompt: 'say it loud' }),
    expected: always(answered('a-model: SAY IT LOUD')),
  },
  {
    name: 'the roots of the client are asked for',
    run: says('roots'),
    expected: always(answered('file:///work file:///home')),
  },
]
