// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables look like that
import { expect, test } from 'vitest'
import { expand } from './env.ts'

const env = { TOKEN: 's3cret', EMPTY: '', NESTED: '${TOKEN}', _a1: 'low' }

const good: readonly [name: string, text: string, value: string, shown: string | undefined][] = [
  ['no reference', 'plain $TOKEN {TOKEN}', 'plain $TOKEN {TOKEN}', undefined],
  ['a name', '${TOKEN}', 's3cret', '${TOKEN}'],
  ['a name within a text', 'Bearer ${TOKEN}!', 'Bearer s3cret!', 'Bearer ${TOKEN}!'],
  ['several', '${TOKEN}${_a1}', 's3cretlow', '${TOKEN}${_a1}'],
  ['a name as VS Code writes it', '${env:TOKEN}', 's3cret', '${TOKEN}'],
  ['a default that is not needed', '${TOKEN:-other}', 's3cret', '${TOKEN:-…}'],
  ['a default that is', '${NONE:-other}', 'other', '${NONE:-…}'],
  ['a default for what is empty', '${EMPTY:-other}', 'other', '${EMPTY:-…}'],
  ['an empty default', '${NONE:-}', '', '${NONE:-}'],
  ['a default with both', '${env:NONE:-a:-b}', 'a:-b', '${NONE:-…}'],
  ['an empty variable', '[${EMPTY}]', '[]', '[${EMPTY}]'],
  ['an escape', '$${TOKEN}', '${TOKEN}', undefined],
  ['an escape before a reference', '$${x}${TOKEN}', '${x}s3cret', '$${x}${TOKEN}'],
  ['a value with a reference, which is text', '${NESTED}', '${TOKEN}', '${NESTED}'],
]

test.each(good)('%s', (_, text, value, shown) => {
  expect(expand(text, { env })).toEqual({
    value,
    ...(shown !== undefined && { shown }),
    problems: [],
    onlyMissing: true,
  })
})

const bad: readonly [name: string, text: string, problem: RegExp, onlyMissing: boolean][] = [
  ['a variable that is not set', 'x${NONE}', /variable NONE is not set/, true],
  ['one that objects inherit', '${constructor}', /constructor is not set/, true],
  ['another', '${__proto__}', /__proto__ is not set/, true],
  ['a name of editors', '${workspaceFolder}/a', /defined by editors only/, true],
  [
    'an input of VS Code',
    '${input:key}',
    /input "key" has no value; set the environment variable INPUT_KEY/,
    true,
  ],
  ['a pattern', '${TOK*}', /"\$\{TOK\*\}" is not a valid reference/, false],
  ['two stars', '${**}', /not a valid reference/, false],
  ['no name', '${}', /not a valid reference/, false],
  ['a name that begins with a digit', '${1A}', /not a valid reference/, false],
  ['a name with spaces', '${ TOKEN }', /not a valid reference/, false],
  ['a reference within a name', '${A${TOKEN}}', /not a valid reference/, false],
  ['a reference within a default', '${A:-${TOKEN}}', /not a valid reference/, false],
  ['another source', '${file:/etc/passwd}', /not a valid reference/, false],
  ['a command', '${command:x}', /not a valid reference/, false],
  ['no end', 'a ${TOKEN', /no closing/, false],
]

test.each(bad)('%s is rejected', (_, text, problem, onlyMissing) => {
  const expanded = expand(text, { env })
  expect(expanded.problems).toEqual([expect.stringMatching(problem)])
  expect(expanded.onlyMissing).toBe(onlyMissing)
})

test('every problem of a string is reported, without values or defaults', () => {
  const { problems, onlyMissing } = expand('${A} ${TOKEN} ${B} ${*:-hidden}', { env })
  expect(problems).toHaveLength(3)
  expect(onlyMissing).toBe(false)
  expect(problems.join()).not.toMatch(/s3cret|hidden/)
})

test('a resolved value next to an unset variable is not shown', () => {
  expect(expand('${TOKEN}/${NONE}', { env }).shown).toBe('${TOKEN}/${NONE}')
})

const places = {
  workspace: '/w/project',
  home: '/home/ada',
  separator: '/',
  readText: (path: string) => {
    if (path !== '/home/ada/key') throw new Error('no such file')
    return 'k3y\n'
  },
}

const withPlaces: readonly [text: string, value: string][] = [
  ['${workspaceFolder}/a', '/w/project/a'],
  ['${workspaceFolderBasename}', 'project'],
  ['${userHome}${/}b', '/home/ada/b'],
  ['${pathSeparator}', '/'],
  ['${file:~/key}', 'k3y'],
  ['${file:/home/ada/key}', 'k3y'],
  ['${input:api-key}', 'asked'],
  ['${input:user id}', 'from the environment'],
]

test.each(withPlaces)('%s is expanded with places', (text, value) => {
  const inputs = new Map([['api-key', 'asked']])
  const variables = { ...env, INPUT_USER_ID: 'from the environment' }
  const expanded = expand(text, { env: variables, places, inputs })
  expect(expanded).toEqual({ value, shown: text, problems: [], onlyMissing: true })
})

test('a variable of the name of a place is used instead', () => {
  const variables = { workspaceFolder: '/other' }
  expect(expand('${workspaceFolder}', { env: variables, places }).value).toBe('/other')
})

test('a file that cannot be read, and an input without a value, are reported', () => {
  const asked: string[] = []
  const expanded = expand('${file:/none}${input:x}', {
    env,
    places,
    onMissingInput: id => asked.push(id),
  })
  expect(expanded.problems).toEqual([
    '"${file:/none}" cannot be read: no such file',
    expect.stringContaining('INPUT_X'),
  ])
  expect(asked).toEqual(['x'])
})
