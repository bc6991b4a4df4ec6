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
    ['a bad revision', ['list', '--revision', 'newest', 'http://x'], '--revision is the date'],
    ['a header for a program', ['list', '--header', 'A: b', '--', 'x'], '--header is for HTTP'],
    [
      'a folder for an address',
      ['list', '--cwd', '.', 'http://x'],
      '--env and --cwd are for programs',
    ],
    ['an unknown shell', ['completion', 'bsh'], 'did you mean "bash"?'],
    ['a missing file to serve', ['serve', 'no-such-file.js'], 'there is no file'],
    ['a port that is none', ['serve', 'src/index.ts', '--http', '99999'], '--http takes a port'],
    [
      'a second configuration',
      ['up', 'a.json', 'b.json'],
      '"b.json" is one too many: trunkline up [CONFIG]',
    ],
    ['a second shell', ['completion', 'bash', 'zsh'], '"zsh" is one too many'],
    ['a second server to try', ['demo', 'clock', 'text'], '"text" is one too many'],
    ['a second command to explain', ['help', 'list', 'call'], '"call" is one too many'],
    ['help for nothing', ['help', 'xyzzy'], 'there is no command "xyzzy"; there are up, '],
    [
      'a revision that is none',
      ['list', '--revision', '2020-01-01', 'http://x'],
      'there are 2024-11-05, ',
    ],
  ] as const

  test.each(mistakes)('%s is refused with the way out', async (_, args, words) => {
    const { code, stdout, stderr } = await ran(args)
    expect(stderr).toContain(words)
    expect([code, stdout]).toEqual([2, ''])
  })

  test('a mistake in the use of a command leads to the page of that command', async () => {
    expect((await ran(['up', '--lissen'])).stderr).toContain('"trunkline help up" shows how')
    expect((await ran(['lsit'])).stderr).toContain('"trunkline help" shows how')
  })

  test('a file that cannot be used is no reason to explain the command', async () => {
    const { code, stderr } = await ran(['up', 'no-such-file.json'])
    expect(code).toBe(2)
    expect(stderr).toBe('trunkline: no-such-file.json: the file cannot be read: there is none\n')
  })

  test('where nothing listens, it is said what that means', async () => {
    const { code, stderr } = await ran(['list', 'http://127.0.0.1:1/mcp'])
    expect(code).toBe(3)
    expect(stderr).toContain('nothing listens there: is the server running')
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
