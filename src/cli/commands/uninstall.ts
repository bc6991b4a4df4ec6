import { exitCodes } from '../exit.ts'
import { withoutServer } from '../hosts/edit/edit.ts'
import { readHostFile, writeHostFile } from '../hosts/host-file.ts'
import type { Run } from '../invocation.ts'

/** `trunkline uninstall`: removes what `trunkline install` wrote. */
export const run: Run = async invocation => {
  const { input, terminal } = invocation
  const file = await readHostFile(invocation)
  const name = input.value('name') ?? 'trunkline'
  const after = withoutServer(file.text, file, name)
  if (after === undefined) {
    terminal.line(`${file.path} does not have ${name}`)
    return exitCodes.ok
  }
  await writeHostFile(invocation, file, after)
  if (!input.has('dry-run')) terminal.line(`${file.path}: removed ${name}`)
  return exitCodes.ok
}
