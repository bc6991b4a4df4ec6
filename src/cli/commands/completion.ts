import { didYouMean } from '../../util/did-you-mean.ts'
import { scripts } from '../completion-scripts.ts'
import { exitCodes, UsageError } from '../exit.ts'
import type { Run } from '../invocation.ts'
import { lookUpServers } from '../target/config-servers.ts'

/** Prints the script for a shell. `completion servers` prints the names that those scripts ask for. */
export const run: Run = async ({ input, terminal }) => {
  const [shell] = input.operands
  if (shell === 'servers') {
    const { servers } = await lookUpServers(input.value('config'))
    for (const name of servers.keys()) terminal.line(name)
    return exitCodes.ok
  }
  const script = scripts.get(shell ?? '')
  if (script === undefined) {
    const names = [...scripts.keys()]
    const meant = shell === undefined ? '' : `, not "${shell}"${didYouMean(shell, names)}`
    throw new UsageError(`the shell is one of ${names.join(', ')}${meant}`)
  }
  if (input.has('json')) terminal.json({ shell, script: script() })
  else terminal.write(script())
  return exitCodes.ok
}
