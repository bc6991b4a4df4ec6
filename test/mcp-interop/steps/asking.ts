import { always, answered, changing, type Row, refused, type Step } from '../outcome.ts'
import { texts } from '../surface.js'

/** The text of a tool after a server request. */
const says = (tool: string, args?: object): Step['run'] => {
  return async driver => {
    const { content, isError } = await driver.callTool(tool, args)
    return isError ? { isError, content } : content[0]?.text
  }
}

/** Before revisions with forms, a tool has no way to elicit. */
const sinceForms = (words: unknown): readonly Row[] =>
  changing(refused(-32601), '2025-06-18', answered(words))

/** Server requests during a call: in sessions as requests, without sessions as input requests in results. */
export const askingSteps: readonly Step[] = [
  {
    name: 'an accepted form is returned',
    run: says('asks', { how: 'accept' }),
    expected: sinceForms('accept: Ada, 36'),
  },
  {
    name: 'a declined form is returned as declined',
    run: says('asks', { how: 'decline' }),
    expected: sinceForms('decline'),
  },
  {
    name: 'a cancelled form is returned as cancelled',
    run: says('asks', { how: 'cancel' }),
    expected: sinceForms('cancel'),
  },
  {
    name: 'a tool elicits twice, and has both responses at the end',
    run: says('asks-twice'),
    expected: sinceForms('hello world'),
  },
  {
    name: 'concurrent calls elicit separately',
    run: driver =>
      Promise.all(['accept', 'decline', 'cancel'].map(how => says('asks', { how })(driver))),
    expected: sinceForms(['accept: Ada, 36', 'decline', 'cancel']),
  },
  {
    name: 'a URL elicitation is accepted',
    run: says('asks-url'),
    expected: changing(refused(-32601), '2025-11-25', answered('accept')),
  },
  {
    name: 'a prompt elicits before it returns',
    run: driver => driver.getPrompt('asked'),
    expected: sinceForms([
      { role: 'user', content: { type: 'text', text: texts.greeting('Grace', 'mild') } },
    ]),
  },
  {
    name: 'the model of the client is sampled',
    run: says('samples', { prompt: 'say it loud' }),
    expected: always(answered('a-model: SAY IT LOUD')),
  },
  {
    name: 'the roots of the client are requested',
    run: says('roots'),
    expected: always(answered('file:///work file:///home')),
  },
]
