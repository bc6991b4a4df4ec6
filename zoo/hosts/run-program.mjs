// Helpers of the scripts whose host is a program.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** Runs a program of the host's folder in a fresh home. Resolves to what it printed. */
export async function run(program, args, { home = freshHome(), env = {} } = {}) {
  const path = join(import.meta.dirname, 'node_modules/.bin', program)
  const promise = execute(path, args, {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, ...env },
    maxBuffer: 64 * 1024 * 1024,
  })
  promise.child.stdin.end()
  const { stdout, stderr } = await promise
  return stdout + stderr
}

/** Returns a fresh home with a JSON file in it, if one is given. */
export function freshHome(path, content) {
  const home = mkdtempSync(join(tmpdir(), 'trunkline-zoo-'))
  if (path !== undefined) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), JSON.stringify(content))
  }
  return home
}

/** Prints the outcome of a host that only connects unless a model asks for more. */
export function printConnected(text) {
  if (!/connected/i.test(text) || /failed|disconnected|not connected/i.test(text))
    throw new Error(text)
  console.log(JSON.stringify({ answer: 'connected' }))
}
