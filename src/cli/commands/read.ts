import { writeFile } from 'node:fs/promises'
import { errorWords } from '../../util/error-words.ts'
import { isRecord } from '../../util/record.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { resourceText } from '../formats.ts'
import type { Run } from '../invocation.ts'
import { withTarget } from '../target/connect.ts'
import { byteText } from '../terminal.ts'

/** Reads a resource, to stdout or into a file. */
export const run: Run = async invocation => {
  const { input, terminal, signal } = invocation
  return withTarget(invocation, async ({ client, operands }) => {
    const [uri, ...rest] = operands
    if (uri === undefined) throw new UsageError('the address of a resource is needed')
    if (rest.length > 0)
      throw new UsageError(`one resource is read at a time, not "${rest[0]}" too`)
    const { contents, raw } = await client.read(uri, { signal }).catch(error => {
      if (!client.server.capabilities.resources) terminal.note('the server offers no resources')
      throw error
    })
    const file = input.value('output')
    if (file !== undefined) {
      const bytes = Buffer.concat(contents.map(bytesOf))
      await written(file, bytes)
      terminal.note(`${byteText(bytes.length)} written to ${file}`)
    }
    if (input.has('json')) terminal.json(raw)
    else if (file === undefined) {
      const words = contents.map(part => resourceText(part, terminal.isInteractive)).join('\n')
      terminal.write(words.endsWith('\n') || words === '' ? words : `${words}\n`)
    }
    return exitCodes.ok
  })
}

function bytesOf(part: unknown): Buffer {
  if (isRecord(part) && typeof part.text === 'string') return Buffer.from(part.text)
  if (isRecord(part) && typeof part.blob === 'string') return Buffer.from(part.blob, 'base64')
  return Buffer.alloc(0)
}

async function written(file: string, bytes: Buffer): Promise<void> {
  try {
    await writeFile(file, bytes)
  } catch (error) {
    const why = errorWords(error)
    throw new UsageError(`--output cannot be written: ${why}`, { cause: error })
  }
}
