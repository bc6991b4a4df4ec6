import { describe, expect, test } from 'vitest'
import { ran } from '../../test/support/ran.ts'

describe('the program', () => {
  const mistakes = [
    ['no command', [], 'a command is needed'],
    ['an unknown command', ['lsit'], 'there is no command "lsit"; did you mean "list"?'],
    ['an unknown option', ['list', '--jsno'], 'has no option --jsno; did you mean "--json"?'],
    ['no server', ['list'], 'a server is needed'],
    ['no program behind the dashes', ['list', '--'], 'a program is needed behind "--"'],
    ['a bad address', ['list', 'tcp://nowhere'], 'cannot read the address "tcp://nowhere"'],
    ['a bad choice', ['list', '--era', 'sesion', 'http://x'], 'did you mean "session"?'],
    ['a bad time', ['list', '--timeout', 'soon', 'http://x'], '--timeout is a time'],
    ['a missing value', ['list', '--timeout'], '--timeout needs a value: --timeout TIME'],
    ['a bad revision', ['list', '--revision', 'newest', 'http://x'], '--revision is a date'],
    ['a header for a program', ['list', '--header', 'A: b', '--', 'x'], '--header is for HTTP'],
    [
      'a folder for an address',
      ['list', '--cwd', '.', 'http://x'],
      '--env and --cwd are for programs',
    ],
    ['an unknown shell', ['completion', 'bsh'], 'did you mean "bash"?'],
    ['a missing file to serve', ['serve', 'no-such-file.js'], 'there is no file'],
  ] as const

  test.each(mistakes)('%s is refused with the way out', async (_, args, words) => {
    const { code, stdout, stderr } = await ran(args)
    expect(stderr).toContain(words)
    expect([code, stdout]).toEqual([2, ''])
  })

  test.each([['help'], ['--help'], ['-h']])('shows every command with %s', async word => {
    const { code, stdout } = await ran([word])
    expect(code).toBe(0)
    expect(stdout).toContain('Usage: trunkline COMMAND')
  })

  test.each([[['help', 'call']], [['call', '--help']], [['call', '-h', 'x']]])(
    'shows how one command is used with %j',
    async args => {
      const { code, stdout } = await ran(args)
      expect(code).toBe(0)
      expect(stdout).toContain('Usage: trunkline call TARGET TOOL')
    },
  )

  test('colours its complaints only where it is told to', async () => {
    expect((await ran(['nothing'])).stderr).not.toContain('\u001b')
    expect((await ran(['nothing'], { FORCE_COLOR: '1' })).stderr).toContain('\u001b[31m')
    expect((await ran(['nothing', '--no-color'], { FORCE_COLOR: '1' })).stderr).not.toContain(
      '\u001b',
    )
  })

  test('says nothing but the failure when it is to be quiet', async () => {
    expect((await ran(['nothing', '-q'])).stderr).toMatch(
      /^trunkline: there is no command "nothing".*\n$/,
    )
  })

  test('what stands behind the dashes is the business of the program there', async () => {
    const { stdout } = await ran(['list', '--', 'trunkline-no-such-program', '--json'])
    expect(stdout).toBe('')
  })
})
