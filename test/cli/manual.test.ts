import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { steps } from '../../src/cli/check/steps.ts'
import { type ExitName, exitCodes, exitMeanings } from '../../src/cli/exit.ts'
import { optionText } from '../../src/cli/help.ts'
import { commandNamed, commands, generalOptions, optionsOf } from '../../src/cli/manual/manual.ts'
import type { OptionRow } from '../../src/cli/manual/rows.ts'
import { documentedTable, readFile, type Table } from '../tables.ts'
import { trunkline } from './bin.ts'

const page = 'docs/command-line.md'

describe('docs/command-line.md', () => {
  const shared = commandNamed('list')?.options ?? []

  const tables: readonly (readonly [name: string, rows: readonly OptionRow[]])[] = [
    ['general-options', generalOptions],
    ['target-options', shared],
    ...[
      'up',
      'install',
      'uninstall',
      'pins',
      'serve',
      'call',
      'read',
      'prompt',
      'check',
      'bench',
      'login',
      'logout',
      'grants',
      'keys',
    ].map(name => [`${name}-options`, ownOptions(name)] as const),
  ]

  test.each(tables)('shows the table "%s"', (name, rows) => {
    const expected = optionTable(rows)
    expect(documentedTable(page, name, expected)).toEqual(expected)
  })

  test('shows the steps of a check', () => {
    const rows = steps.map(({ name, question }) => [`\`${name}\``, question])
    const expected = [['step', 'question'], ...rows]
    expect(documentedTable(page, 'check-steps', expected)).toEqual(expected)
  })

  test('shows the exit codes', () => {
    const names = Object.keys(exitCodes) as ExitName[]
    const rows = names.map(name => [`${exitCodes[name]}`, exitMeanings[name]])
    const expected = [['code', 'meaning'], ...rows]
    expect(documentedTable(page, 'exit-codes', expected)).toEqual(expected)
  })

  test('has a section for every command', () => {
    const headings = Array.from(readFile(page).matchAll(/^## (\w+)$/gm), ([, name]) => name)
    expect(headings).toEqual(expect.arrayContaining(commands.map(({ name }) => name)))
  })

  function ownOptions(name: string): readonly OptionRow[] {
    return (commandNamed(name)?.options ?? []).filter(row => !shared.includes(row))
  }
})

function optionTable(rows: readonly OptionRow[]): Table {
  const lines = rows.map(row => {
    const choices = row.choices === undefined ? '' : ` One of \`${row.choices.join('`, `')}\`.`
    const repeatable = row.many ? ' Can be repeated.' : ''
    return [`\`${optionText(row)}\``, `${row.meaning}${choices}${repeatable}`]
  })
  return [['option', 'meaning'], ...lines]
}

describe('trunkline completion', () => {
  test.each(['bash', 'zsh', 'fish'])(
    'the script for %s knows every command and option',
    async shell => {
      const { code, stdout, stderr } = await trunkline(['completion', shell])
      expect([code, stderr]).toEqual([0, ''])
      for (const command of commands) {
        expect(stdout).toContain(command.name)
        for (const { name } of optionsOf(command)) {
          expect(stdout).toContain(shell === 'fish' ? `-l ${name}` : `--${name}`)
        }
      }
      expect(stdout).toContain('trunkline completion servers')
    },
  )

  const completions = [
    ['commands', ['che'], ['check']],
    ['options', ['check', '--js'], ['--json']],
    ['choices', ['list', '--era', 'st'], ['stateless']],
    ['shells', ['completion', 'z'], ['zsh']],
  ] as const

  test.each(process.platform === 'win32' ? [] : completions)(
    'bash completes %s',
    async (_, words, expected) => {
      const { stdout: script } = await trunkline(['completion', 'bash'])
      const program = `${script}
COMP_WORDS=(trunkline ${words.join(' ')}); COMP_CWORD=${words.length}; _trunkline
printf '%s\\n' "\${COMPREPLY[@]}"`
      const { stdout } = await promisify(execFile)('bash', ['-c', program])
      expect(stdout.trim().split('\n')).toEqual(expected)
    },
  )
})
