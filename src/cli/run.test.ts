import { describe, expect, test } from 'vitest'
import { ran } from '../../test/support/ran.ts'

describe('the program', () => {
  const mistakes = [
    ['no command', [], 'Usage: trunkline COMMAND'],
    ['an unknown command', ['lsit'], 'unknown command "lsit"; did you mean "list"?'],
    [
      'an unknown option',
      ['list', '--jsno'],
      'unknown option --jsno for "trunkline list"; did you mean "--json"?',
    ],
    ['another word for a command', ['ls', 'x'], 'did you mean "trunkline list"?'],
    ['an address as a command', ['http://x/mcp'], 'did you mean "trunkline list http://x/mcp"?'],
    ['a file as a command', ['server.js'], 'did you mean "trunkline serve server.js"?'],
    ['an option as a command', ['--http'], 'did you mean "trunkline COMMAND --http"?'],
    ['missing dashes', ['list', 'node', 'a.js'], 'did you mean "trunkline list -- node a.js"?'],
    ['a program to put up', ['up', 'server.js'], 'did you mean "trunkline serve server.js"?'],
    ['a bare port', ['serve', 'src/index.ts', '3000'], 'did you mean "--http 3000"?'],
    ['no server', ['list'], 'missing server'],
    ['no program after the dashes', ['list', '--'], 'missing program after "--"'],
    ['a bad address', ['list', 'tcp://nowhere'], 'cannot read the address "tcp://nowhere"'],
    ['a bad choice', ['list', '--era', 'sesion', 'http://x'], 'did you mean "session"?'],
    ['a bad time', ['list', '--timeout', 'soon', 'http://x'], '--timeout must be a duration'],
    ['a missing value', ['list', '--timeout'], '--timeout requires a value: --timeout TIME'],
    [
      'a bad revision',
      ['list', '--revision', 'newest', 'http://x'],
      '--revision: unknown revision "newest"; the revisions are 2024-11-05, ',
    ],
    ['a header for a program', ['list', '--header', 'A: b', '--', 'x'], '--header applies to HTTP'],
    [
      'a folder for an address',
      ['list', '--cwd', '.', 'http://x'],
      '--env and --cwd apply to programs',
    ],
    ['an unknown shell', ['completion', 'bsh'], 'did you mean "bash"?'],
    ['a port in another word', ['up', '--port', '8080'], 'did you mean "--http"?'],
    ['a missing file to serve', ['serve', 'no-such-file.js'], 'no-such-file.js does not exist'],
    ['an invalid port', ['serve', 'src/index.ts', '--http', '99999'], '--http takes a port'],
    ['a second shell', ['completion', 'bash', 'zsh'], 'unexpected argument "zsh"'],
    ['a second demo server', ['demo', 'clock', 'text'], 'unexpected argument "text"'],
    ['a second command to explain', ['help', 'list', 'call'], 'unexpected argument "call"'],
    ['help for nothing', ['help', 'xyzzy'], 'unknown command "xyzzy"; commands: up, '],
    [
      'an unknown revision',
      ['list', '--revision', '2020-01-01', 'http://x'],
      '--revision: unknown revision "2020-01-01"; the revisions are 2024-11-05, ',
    ],
  ] as const

  test.each(mistakes)('%s is rejected with a helpful message', async (_, args, message) => {
    const { code, stdout, stderr } = await ran(args)
    expect(stderr).toContain(message)
    expect([code, stdout]).toEqual([2, ''])
  })

  test('a usage error points to the help of the command', async () => {
    expect((await ran(['up', '--lissen'])).stderr).toContain('run "trunkline help up" for help')
    expect((await ran(['lsit'])).stderr).toContain('run "trunkline help" for help')
  })

  test('an invalid file does not point to the help of the command', async () => {
    const { code, stderr } = await ran(['up', 'no-such-file.json'])
    expect(code).toBe(2)
    expect(stderr).toBe('trunkline: no-such-file.json: cannot read the file: no such file\n')
  })

  test('explains a refused connection', async () => {
    const { code, stderr } = await ran(['list', 'http://127.0.0.1:1/mcp'])
    expect(code).toBe(3)
    expect(stderr).toContain('nothing is listening there: is the server running')
  })

  test.each([['help'], ['--help'], ['-h']])('shows every command with %s', async word => {
    const { code, stdout } = await ran([word])
    expect(code).toBe(0)
    expect(stdout).toContain('Usage: trunkline COMMAND')
  })

  test.each([[['help', 'call']], [['call', '--help']], [['call', '-h', 'x']]])(
    'shows the help of one command with %j',
    async args => {
      const { code, stdout } = await ran(args)
      expect(code).toBe(0)
      expect(stdout).toContain('Usage: trunkline call TARGET TOOL')
    },
  )

  test('colors errors only if colors are enabled', async () => {
    expect((await ran(['nothing'])).stderr).not.toContain('\u001b')
    expect((await ran(['nothing'], { FORCE_COLOR: '1' })).stderr).toContain('\u001b[31m')
    expect((await ran(['nothing', '--no-color'], { FORCE_COLOR: '1' })).stderr).not.toContain(
      '\u001b',
    )
  })

  test('prints only the error with --quiet', async () => {
    expect((await ran(['nothing', '-q'])).stderr).toMatch(
      /^trunkline: unknown command "nothing".*\n$/,
    )
  })

  test('arguments after the dashes belong to the started program', async () => {
    const { stdout } = await ran(['list', '--', 'trunkline-no-such-program', '--json'])
    expect(stdout).toBe('')
  })
})
