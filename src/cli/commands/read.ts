import { isRecord } from '../../util/objects.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { resourceText } from '../formats.ts'
import type { Run } from '../invocation.ts'
import { writeOutput } from '../output-file.ts'
import { withTarget } from '../target/connect.ts'
import { formatBytes } from '../terminal.ts'

/** `trunkline read`: reads a resource, and prints it or writes it to a file. */
export const run: Run = async invocation => {
  const { input, terminal, signal } = invocation
  return withTarget(invocation, async ({ client, operands }) => {
    const [uri, ...rest] = operands
    if (uri === undefined) throw new UsageError('missing resource URI')
    if (rest.length > 0)
      throw new UsageError(
        `unexpected argument "${rest[0]}": only one resource can be read at a time`,
      )
    const { contents, raw } = await client.read(uri, { signal }).catch(error => {
      if (!client.server.capabilities.resources) terminal.note('the server has no resources')
      throw error
    })
    const file = input.value('output')
    if (file !== undefined) {
      const bytes = Buffer.concat(contents.map(bytesOf))
      await writeOutput(file, bytes)
      terminal.note(`wrote ${formatBytes(bytes.length)} to ${file}`)
    }
    if (input.has('json')) terminal.json(raw)
    else if (file === undefined) {
      const text = contents.map(part => resourceText(part, terminal.isInteractive)).join('\n')
      terminal.write(text.endsWith('\n') || text === '' ? text : `${text}\n`)
    }
    return exitCodes.ok
  })
}

function bytesOf(part: unknown): Buffer {
  if (isRecord(part) && typeof part.text === 'string') return Buffer.from(part.text)
  if (isRecord(part) && typeof part.blob === 'string') return Buffer.from(part.blob, 'base64')
  return Buffer.alloc(0)
}
