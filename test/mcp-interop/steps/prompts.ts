import { always, answered, changing, refused, type Step } from '../outcome.ts'
import { completions, png, texts, uris } from '../surface.js'

const says = (words: string) => answered([{ role: 'user', content: { type: 'text', text: words } }])

/** Prompts, and the completion of their arguments. */
export const promptSteps: readonly Step[] = [
  {
    name: 'all prompts are listed',
    run: async driver => (await driver.listPrompts()).map(({ name }) => name).sort(),
    expected: always(answered(['asked', 'greet', 'pictured', 'plain'])),
  },
  {
    name: 'a prompt is described with its arguments',
    run: async driver => (await driver.listPrompts()).find(({ name }) => name === 'greet'),
    expected: always(
      answered({
        description: 'Greets somebody',
        arguments: [{ name: 'name', required: true }, { name: 'tone' }],
      }),
    ),
  },
  {
    name: 'a prompt without arguments is returned',
    run: driver => driver.getPrompt('plain'),
    expected: always(says(texts.plain)),
  },
  {
    name: 'a prompt with arguments is returned',
    run: driver => driver.getPrompt('greet', { name: 'Ada', tone: 'merry' }),
    expected: always(says(texts.greeting('Ada', 'merry'))),
  },
  {
    name: 'an optional argument is omitted',
    run: driver => driver.getPrompt('greet', { name: 'Ada' }),
    expected: always(says(texts.greeting('Ada', 'mild'))),
  },
  {
    name: 'a prompt has messages with an image and with a resource',
    run: driver => driver.getPrompt('pictured'),
    expected: always(
      answered([
        { role: 'user', content: { type: 'image', data: png, mimeType: 'image/png' } },
        { role: 'assistant', content: { type: 'resource', resource: { uri: uris.text } } },
      ]),
    ),
  },
  {
    name: 'a prompt without a required argument is refused',
    run: driver => driver.getPrompt('greet', {}),
    expected: always(refused(-32602)),
  },
  {
    name: 'a prompt that does not exist is refused',
    run: driver => driver.getPrompt('nonesuch'),
    expected: always(refused(-32602)),
  },
  {
    name: 'an argument is completed',
    run: driver =>
      driver.complete({ type: 'ref/prompt', name: 'greet' }, { name: 'name', value: 'A' }),
    expected: always(answered({ values: completions.name('A') })),
  },
  {
    name: 'an argument is completed in the context of the others',
    run: driver =>
      driver.complete(
        { type: 'ref/prompt', name: 'greet' },
        { name: 'tone', value: 'm' },
        { name: 'Grace' },
      ),
    expected: changing(
      answered({ values: completions.tone('m') }),
      '2025-06-18',
      answered({ values: completions.tone('m', 'Grace') }),
    ),
  },
  {
    name: 'the completion of a prompt that does not exist is refused',
    run: driver =>
      driver.complete({ type: 'ref/prompt', name: 'nonesuch' }, { name: 'name', value: '' }),
    expected: always(refused(-32602)),
  },
]
