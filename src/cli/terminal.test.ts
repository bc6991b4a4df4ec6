import { describe, expect, test } from 'vitest'
import { byteText, harmless, oneLine, Terminal, type TerminalOptions } from './terminal.ts'

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

describe('colours', () => {
  test.each([
    ['in a pipe', {}, 'x'],
    ['on a terminal', { isTTY: true }, '\u001b[1m\u001b[31mx\u001b[0m'],
    ['with NO_COLOR', { isTTY: true, env: { NO_COLOR: '1' } }, 'x'],
    [
      'with an empty NO_COLOR',
      { isTTY: true, env: { NO_COLOR: '' } },
      '\u001b[1m\u001b[31mx\u001b[0m',
    ],
    ['on a dumb terminal', { isTTY: true, env: { TERM: 'dumb' } }, 'x'],
    ['forced', { env: { FORCE_COLOR: '1' } }, '\u001b[1m\u001b[31mx\u001b[0m'],
    ['forced off', { isTTY: true, env: { FORCE_COLOR: '0' } }, 'x'],
    ['with the option', { isTTY: true, noColor: true }, 'x'],
  ])('%s', (_, options, expected) => {
    const { made } = terminal(options)
    expect(made.paint('x', 'bold', 'red')).toBe(expected)
    expect(made.tint('x', 'bold', 'red')).toBe(expected)
  })
})

describe('what is written', () => {
  test('results go to stdout, all else to stderr', () => {
    const { made, out, err } = terminal()
    made.line('a result')
    made.json({ a: 1 })
    made.note('a note')
    made.complain('a complaint')
    expect(out()).toBe('a result\n{\n  "a": 1\n}\n')
    expect(err()).toBe('a note\na complaint\n')
  })

  test('notes and progress are left out where quiet is wanted', () => {
    const { made, err } = terminal({ quiet: true })
    made.note('a note')
    made.progress('x').step(0.5, 'half')
    made.complain('a complaint')
    expect(err()).toBe('a complaint\n')
  })

  test('progress is a line for each step in a pipe, and none for the same step', () => {
    const { made, err } = terminal()
    const bar = made.progress('job')
    bar.step(0.5, 'half')
    bar.step(0.5, 'half')
    bar.step(undefined, 'who knows')
    bar.end()
    expect(err()).toBe('job: 50% half\njob: who knows\n')
  })

  test('progress is a bar on a terminal, which is taken away before anything else is written', () => {
    const { made, out, err } = terminal({ isTTY: true })
    const bar = made.progress('job')
    bar.step(0.5, 'half')
    made.line('a result')
    bar.end()
    expect(err()).toBe('job [##########----------] 50% half\r\u001b[K')
    expect(out()).toBe('a result\n')
  })

  test('a bar is never wider than the terminal', () => {
    const { made, err } = terminal({ isTTY: true })
    made.progress('job').step(2, 'x'.repeat(500))
    expect(err().length).toBeLessThan(40)
  })
})

describe('text from elsewhere', () => {
  test('cannot steer a terminal', () => {
    expect(harmless('a\u001b[31mb\rc\u202ed\ne\tf')).toBe('a\ufffd[31mb\ufffdc\ufffdd\ne\tf')
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
    expect(byteText(bytes)).toBe(expected)
  })
})
