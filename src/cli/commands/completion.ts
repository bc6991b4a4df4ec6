import { didYouMean } from '../../util/nearest.ts'
import { exitCodes, UsageError } from '../exit.ts'
import type { Run } from '../invocation.ts'
import { commands, optionsOf } from '../manual/manual.ts'
import type { CommandRow, OptionRow } from '../manual/rows.ts'
import { lookUpServers } from '../target/config-servers.ts'
import { toolNames } from '../target/tool-names.ts'

/**
 * `trunkline completion`: prints the completion script of a shell. The scripts call `completion servers`, which
 * prints the names of the configured servers, and `completion tools TARGET`, which prints those of the tools.
 */
export const run: Run = async ({ input, terminal }) => {
  const [shell, target] = input.operands
  if (shell === 'servers') {
    const { servers } = await lookUpServers(input.value('config'))
    for (const name of [...servers.keys()].filter(isPlain)) terminal.line(name)
    return exitCodes.ok
  }
  if (shell === 'tools' && target !== undefined) {
    for (const name of (await toolNames(input, target)).filter(isPlain)) terminal.line(name)
    return exitCodes.ok
  }
  if (target !== undefined) throw new UsageError(`unexpected argument "${target}"`)
  const script = scripts.get(shell ?? '')
  if (script === undefined) {
    const shells = [...scripts.keys()]
    const given = shell === undefined ? '' : ` (got "${shell}")${didYouMean(shell, shells)}`
    throw new UsageError(`shell must be one of ${shells.join(', ')}${given}`)
  }
  if (input.has('json')) terminal.json({ shell, script: script() })
  else terminal.write(script())
  return exitCodes.ok
}

/** Whether a shell leaves a word as it is. Bash runs `$(…)` in the words that it completes, and servers choose names. */
function isPlain(name: string): boolean {
  return /^[\w./:@+-]+$/.test(name)
}

/** Builds the completion script, by shell. */
const scripts: ReadonlyMap<string, () => string> = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
])

const names = commands.map(({ name }) => name)
const targeted = commands.filter(({ hasTarget }) => hasTarget).map(({ name }) => name)
/** Commands whose first operand is a file. */
const fileCommands = ['serve', 'pins', 'up']
/** Options whose value is a file or folder. */
const fileOptions: ReadonlySet<string> = new Set(['config', 'output', 'cwd', 'pins'])
/** Shell command that prints the names of the configured servers; prints nothing if there is no configuration. */
const servers = 'trunkline completion servers 2>/dev/null'
/** Shell command that prints the names of the tools of the target that follows it. */
const tools = 'trunkline completion tools'
/** Commands whose second operand is a tool. */
const toolCommands = ['call']

function bash(): string {
  const cases = commands.map(command => `    ${command.name}) options="${longNames(command)}" ;;`)
  return `# trunkline completion for bash: source <(trunkline completion bash)
_trunkline() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local command="\${COMP_WORDS[1]}" options="" word
  local line="\${COMP_LINE:0:COMP_POINT}" words
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == "--" ]] && { COMPREPLY=($(compgen -c -- "$current")); return; }
  done
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "${names.join(' ')} --version --help" -- "$current"))
    return
  fi
  case "$previous" in
${choices((name, values) => `    --${name}) COMPREPLY=($(compgen -W "${values}" -- "$current")); return ;;`)}
    --config|--output|-o|--cwd|--pins) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  case "$command" in
${cases.join('\n')}
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
    return
  fi
  # Split at spaces: bash also splits the words of an address at its colons.
  read -ra words <<< "$line"
  [[ $line == *' ' ]] && words+=('')
  if [[ $command == ${toolCommands.join('|')} ]] && ((\${#words[@]} == 4)); then
    COMPREPLY=($(compgen -W "$(${tools} "\${words[2]}" 2>/dev/null)" -- "$current"))
    return
  fi
  case "$command" in
    ${targeted.join('|')})
      ((COMP_CWORD == 2)) && COMPREPLY=($(compgen -W "$(${servers})" -- "$current")) ;;
    ${fileCommands.join('|')}) COMPREPLY=($(compgen -f -- "$current")) ;;
    completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$current")) ;;
    help) COMPREPLY=($(compgen -W "${names.join(' ')}" -- "$current")) ;;
  esac
}
complete -F _trunkline trunkline
`
}

function zsh(): string {
  const described = commands.map(({ name, summary }) => `    '${name}:${quoted(summary)}'`)
  const cases = commands.map(command => {
    const options = optionsOf(command).map(row => `        ${zshOption(row)}`)
    return `    ${command.name})\n      _arguments -S \\\n${options.join(' \\\n')} \\\n        ${zshOperand(command)}\n      ;;`
  })
  return `#compdef trunkline
# trunkline completion for zsh: source <(trunkline completion zsh)
_trunkline_servers() {
  local -a found
  found=(\${(f)"$(${servers})"})
  compadd -a found
}
_trunkline_tools() {
  local -a found
  found=(\${(f)"$(${tools} "\${words[2]}" 2>/dev/null)"})
  compadd -a found
}
_trunkline() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command="\${words[2]}"
  shift words
  ((CURRENT--))
  case "$command" in
${cases.join('\n')}
  esac
}
if [[ $funcstack[1] == _trunkline ]]; then _trunkline "$@"; else compdef _trunkline trunkline; fi
`
}

function zshOption({ name, short, value, many, choices: values, meaning }: OptionRow): string {
  const description = `[${quoted(meaning).replace(/[[\]:]/g, ' ')}]`
  const action =
    value === undefined
      ? ''
      : `:${value}:${values === undefined ? zshValue(name) : `(${values.join(' ')})`}`
  const repeat = many ? '*' : ''
  const long = `'${repeat}--${name}${description}${action}'`
  return short === undefined ? long : `${long} '-${short}${description}${action}'`
}

function zshValue(name: string): string {
  return fileOptions.has(name) ? '_files' : ' '
}

function zshOperand({ name, hasTarget }: CommandRow): string {
  if (toolCommands.includes(name))
    return "'1:server:_trunkline_servers' '2:tool:_trunkline_tools' '*: :_default'"
  if (hasTarget) return "'1:server:_trunkline_servers' '*: :_default'"
  if (fileCommands.includes(name)) return "'1:file:_files' '*: :_default'"
  if (name === 'completion') return "'1:shell:(bash zsh fish)'"
  return name === 'help' ? `'1:command:(${names.join(' ')})'` : "'*: :_default'"
}

function fish(): string {
  const lines = [
    '# trunkline completion for fish: trunkline completion fish | source',
    'complete -c trunkline -f',
  ]
  for (const { name, summary } of commands) {
    lines.push(
      `complete -c trunkline -n __fish_use_subcommand -a ${name} -d '${fishQuoted(summary)}'`,
    )
  }
  for (const command of commands) {
    const condition = `-n '__fish_seen_subcommand_from ${command.name}'`
    for (const row of optionsOf(command)) {
      lines.push(`complete -c trunkline ${condition} ${fishOption(row)}`)
    }
  }
  const seen = `-n '__fish_seen_subcommand_from ${targeted.join(' ')}'`
  lines.push(`complete -c trunkline ${seen} -a '(${servers})'`)
  const third = 'test (count (commandline -opc)) -eq 3'
  const called = `-n '__fish_seen_subcommand_from ${toolCommands.join(' ')}; and ${third}'`
  lines.push(`complete -c trunkline ${called} -a '(${tools} (commandline -opc)[3] 2>/dev/null)'`)
  const files = `-n '__fish_seen_subcommand_from ${fileCommands.join(' ')}'`
  lines.push(`complete -c trunkline ${files} -F`)
  lines.push("complete -c trunkline -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'")
  lines.push(`complete -c trunkline -n '__fish_seen_subcommand_from help' -a '${names.join(' ')}'`)
  return `${lines.join('\n')}\n`
}

function fishOption({ name, short, value, choices: values, meaning }: OptionRow): string {
  const parts = [`-l ${name}`]
  if (short !== undefined) parts.push(`-s ${short}`)
  if (value !== undefined) parts.push(values === undefined ? '-r' : `-x -a '${values.join(' ')}'`)
  if (fileOptions.has(name)) parts.push('-F')
  return `${parts.join(' ')} -d '${fishQuoted(meaning)}'`
}

function longNames(command: CommandRow): string {
  return optionsOf(command)
    .map(({ name }) => `--${name}`)
    .join(' ')
}

function choices(line: (name: string, values: string) => string): string {
  const found = new Map<string, string>()
  for (const command of commands) {
    for (const { name, choices: values } of optionsOf(command)) {
      if (values !== undefined) found.set(name, values.join(' '))
    }
  }
  return [...found].map(([name, values]) => line(name, values)).join('\n')
}

function quoted(text: string): string {
  return text.replaceAll('`', '').replaceAll("'", '')
}

function fishQuoted(text: string): string {
  return text.replaceAll('`', '').replaceAll("'", "\\'")
}
