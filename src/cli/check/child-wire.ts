import { spawn } from 'node:child_process'
import type { ChildCommand } from '../../transport/child.ts'
import { childEnvironment } from '../../transport/environment.ts'
import { ProcessTree } from '../../transport/process-tree.ts'
import { systemClock } from '../../util/clock.ts'
import { limits } from '../../util/limits.ts'
import type { FramingName } from '../../wire/frame.ts'
import { framing } from '../../wire/framing.ts'
import { Inbox, type Wire } from './wire.ts'

/** How a program ended: with a code, or by a signal. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A program, its pipes, and what it has printed that does not belong there. */
export interface ChildWire extends Wire {
  /** Frames on its standard output that are no JSON. */
  readonly junk: readonly string[]
  readonly stderr: () => string
  readonly exited: Promise<Exit>
  /** Ends its input, and gives how it exited within the time; undefined if it did not. */
  endInput(ms: number): Promise<Exit | undefined>
}

/** How much of its error output is kept. */
const keptCharacters = 20_000

/** Starts a program. Rejects with what the system says where it cannot be started. */
export async function childWire(
  { command, args = [], env, cwd }: ChildCommand,
  name: FramingName = 'lines',
): Promise<ChildWire> {
  const child = spawn(command, args, {
    cwd,
    env: childEnvironment(env),
    detached: process.platform !== 'win32',
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  })
  const { pid } = child
  if (pid === undefined) {
    throw await new Promise<Error>(resolve => child.once('error', resolve))
  }
  const tree = new ProcessTree(pid, systemClock)
  const inbox = new Inbox()
  const junk: string[] = []
  let stderr = ''
  const how = framing(name)
  const reader = how.reader(
    {
      frame: (bytes, start, end) => {
        const text = Buffer.from(bytes.subarray(start, end)).toString('utf8')
        if (!inbox.pushText(text)) junk.push(text)
      },
      oversize: () => junk.push('(a message beyond every limit)'),
      broken: why => junk.push(`(${why})`),
    },
    limits.checkBodyBytes.default,
  )
  child.stdout.on('data', (chunk: Buffer) => reader.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString('utf8')).slice(-keptCharacters)
  })
  // What goes wrong with the streams, the exit tells better.
  for (const stream of [child, child.stdin, child.stdout, child.stderr])
    stream.on('error', () => {})
  let rest: Promise<void> = Promise.resolve()
  const exited = new Promise<Exit>(resolve => {
    child.once('exit', (code, signal) => {
      rest = tree.endRest(limits.childTermMs.default)
      resolve({ code, signal })
    })
  })
  // Not at the exit itself: what was printed before it may still be on its way.
  child.once('close', (code, signal) => inbox.end(exitText({ code, signal }, stderr)))
  void exited.then(exit => setTimeout(() => inbox.end(exitText(exit, stderr)), lastWordsMs).unref())

  const within = async (ms: number): Promise<Exit | undefined> => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<undefined>(resolve => {
      timer = setTimeout(() => resolve(undefined), ms)
    })
    const exit = await Promise.race([exited, late])
    clearTimeout(timer)
    return exit
  }
  const endInput = (ms: number): Promise<Exit | undefined> => {
    child.stdin.end()
    return within(ms)
  }
  return {
    inbox,
    junk,
    stderr: () => stderr,
    exited,
    endInput,
    send: async text => {
      if (child.stdin.writable) child.stdin.write(how.write(text))
    },
    close: async () => {
      child.stdin.end()
      if ((await within(closeMs)) === undefined) {
        tree.signal('SIGKILL')
        await exited
      }
      await rest
    },
  }
}

/** How long words written before the exit may take to arrive where somebody holds the pipe open. */
const lastWordsMs = limits.lastWordsMs.default
/** How long a program that is no longer wanted may take to leave by itself. */
const closeMs = limits.checkSilenceMs.default

/** How a program ended, in words. */
export function exitText({ code, signal }: Exit, stderr = ''): string {
  const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`
  const last = stderr.trim().split('\n').slice(-3).join(' / ')
  return last === '' ? `the program ${how}` : `the program ${how}; it said: ${last}`
}
