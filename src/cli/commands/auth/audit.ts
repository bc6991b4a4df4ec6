import { verifyAuditLog } from '../../../observe/audit/verify.ts'
import { errorMessage } from '../../../util/text/error-message.ts'
import { exitCodes, FileError, UsageError } from '../../exit.ts'
import type { Run } from '../../invocation.ts'

/** `trunkline audit verify`: checks that no line of an audit log was changed, added or removed. */
export const run: Run = async ({ input, terminal }) => {
  const [action, file] = input.operands
  if (action !== 'verify' || file === undefined) {
    throw new UsageError('the file is missing: trunkline audit verify FILE')
  }
  const { lines, digest, broken, isTorn } = await verifyAuditLog(file).catch(error => {
    throw new FileError(`${file}: ${errorMessage(error)}`, { cause: error })
  })
  if (input.has('json'))
    terminal.json({ file, ok: broken === undefined, lines, digest, broken, isTorn })
  else if (broken !== undefined) {
    terminal.line(`${file}:${broken.line}: ${broken.reason}`)
  } else terminal.line(`${file}: ${lines} lines, none changed; the last has the SHA-256 ${digest}`)
  if (isTorn)
    terminal.note('the last line is not complete: it is being written, or its process has ended')
  return broken === undefined ? exitCodes.ok : exitCodes.checkFailed
}
