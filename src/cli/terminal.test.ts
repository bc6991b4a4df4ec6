import { describe, expect, test } from 'vitest'
import { printable } from '../util/text/printable.ts'
import { formatBytes, oneLine, Terminal, type TerminalOptions } from './terminal.ts'

function terminal(options: Partial<TerminalOptions> & { readonly isTTY?: boolean } = {}) {
  const out: string[] = []
  const err: string[] = []
  const { isTTY = false, ...rest } = options
  const made = new Terminal({
    stdout: { write: text => out.push(text), isTTY, columns: isTTY ? 40 : undefined },
    stderr: { write: text => err.push(text), isTTY, columns: isTTY ? 40 : undefined },
    ...rest,
  })
  return { made, out: () => out.join(''), err: () => err.join('') }
}

describe('colors', () => {
  test.each([
    ['in a pipe', {}, 'x'],
    ['on a terminal', { isTTY: true }, '\u001b[1m\u001b[31mx\u001b[39m\u001b[22m'],
    ['with NO_COLOR', { isTTY: true, env: { NO_COLOR: '1' } }, 'x'],
    [
      'with an empty NO_COLOR',
      { isTTY: true, env: { NO_COLOR: '' } },
      '\u001b[1m\u001b[31mx\u001b[39m\u001b[22m',
    ],
    ['on a dumb terminal', { isTTY: true, env: { TERM: 'dumb' } }, 'x'],
    ['forced', { env: { FORCE_COLOR: '1' } }, '\u001b[1m\u001b[31mx\u001b[39m\u001b[22m'],
    ['forced off', { isTTY: true, env: { FORCE_COLOR: '0' } }, 'x'],
    ['with the option', { isTTY: true, noColor: true }, 'x'],
  ])('%s', (_, options, expected) => {
    const { made, out, err } = terminal(options)
    made.line(made.style('x', 'bold', 'red'))
    made.write(made.style('x', 'bold', 'red'))
    made.error(made.styleStderr('x', 'bold', 'red'))
    expect(out()).toBe(`${expected}\n${expected}`)
    expect(err()).toBe(`${expected}\n`)
  })
})

describe('text that could control the terminal', () => {
  const hostile = 'a\u001b]0;title\u0007b\u009b31mc\u202ed\u007f'
  const shown = 'a\ufffd]0;title\ufffdb\ufffd31mc\ufffdd\ufffd'

  test.each([true, false])('is made printable, on a terminal: %s', isTTY => {
    const { made, out, err } = terminal({ isTTY })
    made.line(hostile)
    made.json({ hostile })
    made.note(hostile)
    made.error(made.styleStderr(hostile, 'red'))
    const bar = made.progress('job')
    bar.update(0.5, hostile)
    bar.end()
    expect(out()).toContain(`${shown}\n`)
    expect(JSON.parse(out().slice(out().indexOf('{')))).toEqual({ hostile })
    expect(foreign(out() + err())).toEqual([])
  })

  test('is written as it is only where stdout is no terminal', () => {
    const pipe = terminal()
    pipe.made.write(hostile)
    expect(pipe.out()).toBe(hostile)
    const screen = terminal({ isTTY: true })
    screen.made.write(hostile)
    expect(screen.out()).toBe(shown)
  })

  test('cannot use the marks of another terminal', () => {
    const { made, out } = terminal({ isTTY: true })
    const other = terminal({ isTTY: true }).made
    made.line(other.style('x', 'red'))
    expect(foreign(out())).toEqual([])
    expect(out()).not.toContain('\u001b')
  })
})

/** Returns the control characters that are neither layout, nor styles and bars of the command line. */
function foreign(text: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
  const known = /\r\u001b\[K|\u001b\[\d+m/g
  return text.replace(known, '').match(/(?![\n\t])[\p{Cc}\u202e]/gu) ?? []
}

describe('output', () => {
  test('results go to stdout, everything else to stderr', () => {
    const { made, out, err } = terminal()
    made.line('a result')
    made.json({ a: 1 })
    made.note('a note')
    made.error('an error')
    expect(out()).toBe('a result\n{\n  "a": 1\n}\n')
    expect(err()).toBe('a note\nan error\n')
  })

  test('notes and progress are suppressed if quiet', () => {
    const { made, err } = terminal({ quiet: true })
    made.note('a note')
    made.progress('x').update(0.5, 'half')
    made.error('an error')
    expect(err()).toBe('an error\n')
  })

  test('progress is a line for each update in a pipe, and none for a repeated one', () => {
    const { made, err } = terminal()
    const bar = made.progress('job')
    bar.update(0.5, 'half')
    bar.update(0.5, 'half')
    bar.update(undefined, 'who knows')
    bar.end()
    expect(err()).toBe('job: 50% half\njob: who knows\n')
  })

  test('progress is a bar on a terminal, which is removed before anything else is written', () => {
    const { made, out, err } = terminal({ isTTY: true })
    const bar = made.progress('job')
    bar.update(0.5, 'half')
    made.line('a result')
    bar.end()
    expect(err()).toBe('job [##########----------] 50% half\r\u001b[K')
    expect(out()).toBe('a result\n')
  })

  test('a bar is never wider than the terminal', () => {
    const { made, err } = terminal({ isTTY: true })
    made.progress('job').update(2, 'x'.repeat(500))
    expect(err().length).toBeLessThan(40)
  })
})

describe('untrusted text', () => {
  test('cannot manipulate a terminal', () => {
    expect(printable('a\u001b[31mb\rc\u202ed\ne\tf')).toBe('a\ufffd[31mb\ufffdc\ufffdd\ne\tf')
  })

  test('fits into a line', () => {
    expect(oneLine(' a\n b\t c ', 10)).toBe('a b c')
    expect(oneLine('abcdef', 4)).toBe('abc…')
    expect(oneLine('😀😀😀', 2)).toBe('😀…')
  })

  test.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1536, '1.5 KiB'],
    [3 * 2 ** 20, '3.0 MiB'],
  ])('%d bytes are %s', (bytes, expected) => {
    expect(formatBytes(bytes)).toBe(expected)
  })
})
