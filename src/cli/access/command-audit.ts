import { type AuditLog, openAuditLog } from '../../observe/audit/audit-log.ts'
import type { AuditSink } from '../../observe/audit/record.ts'
import type { AuditConfig } from '../../router/config/access/fields.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { FileError } from '../exit.ts'
import type { Invocation } from '../invocation.ts'

/** Opens an audit log. Rejects with a FileError if it cannot be used. */
export async function openLog(
  { file, onFull }: AuditConfig,
  onError: (error: Error) => void,
): Promise<AuditLog> {
  try {
    return await openAuditLog(file, { onFull, onError })
  } catch (error) {
    throw new FileError(errorMessage(error), { cause: error })
  }
}

/**
 * Runs a command that changes who has access, with the audit log that `--audit` names. The log is opened first: nothing is
 * changed if it cannot be written. Rejects with a FileError if what was done could not be recorded.
 */
export async function withAuditLog<T>(
  { input, terminal }: Pick<Invocation, 'input' | 'terminal'>,
  work: (audit: AuditSink | undefined) => Promise<T>,
): Promise<T> {
  const file = input.value('audit')
  if (file === undefined) return work(undefined)
  const problems: Error[] = []
  const log = await openLog({ file }, error => problems.push(error))
  // What was wrong with the end of the file is repaired with the first record.
  for (const { message } of problems.splice(0)) terminal.note(message)
  const result = await work(log).finally(() => log.close())
  const [problem] = problems
  if (problem !== undefined) throw new FileError(problem.message, { cause: problem })
  return result
}
