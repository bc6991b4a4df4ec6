import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { type RunOptions, start } from './bin.ts'

/** Makes a folder, for as long as the test lasts. */
export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-process-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts a command that serves, and returns the first JSON document that it prints. */
export async function started(args: readonly string[], options: RunOptions) {
  const child = start([...args, '--json'], options)
  onTestFinished(() => void child.kill('SIGKILL'))
  const errors = text(child.stderr)
  let printed = ''
  for await (const line of createInterface({ input: child.stdout })) {
    printed += line
    try {
      return { child, errors, report: JSON.parse(printed) }
    } catch {
      // The document has more lines.
    }
  }
  throw new Error(`it ended: ${await errors}`)
}
