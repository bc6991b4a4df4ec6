import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { ChildCommand } from '../../transport/process/child.ts'
import { childEnvironment } from '../../transport/process/environment.ts'
import { ProcessTree } from '../../transport/process/process-tree.ts'
import { limits } from '../../util/limits/limits.ts'
import { systemClock } from '../../util/time/clock.ts'
import type { FrameReader, Framing, FramingName } from '../../wire/frame.ts'
import { framing } from '../../wire/framing.ts'
import { Inbox, type Wire } from './wire.ts'

/** How a program ended: with a code, or by a signal. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
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
  return new ChildWire(child, new ProcessTree(pid, systemClock), framing(name))
}

/** A program, its pipes, and what it has printed that does not belong there. */
export class ChildWire implements Wire {
  readonly inbox = new Inbox()
  readonly exited: Promise<Exit>
  readonly #child: ChildProcessWithoutNullStreams
  readonly #tree: ProcessTree
  readonly #framing: Framing
  readonly #junk: string[] = []
  #stderr = ''
  /** Ends what the program has started and left behind. */
  #rest: Promise<void> = Promise.resolve()

  constructor(child: ChildProcessWithoutNullStreams, tree: ProcessTree, how: Framing) {
    this.#child = child
    this.#tree = tree
    this.#framing = how
    const reader = this.#reader()
    child.stdout.on('data', (chunk: Buffer) => reader.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-keptCharacters)
    })
    // What goes wrong with the streams, the exit tells better.
    for (const stream of [child, child.stdin, child.stdout, child.stderr]) {
      stream.on('error', () => {})
    }
    this.exited = new Promise(resolve => {
      child.once('exit', (code, signal) => {
        this.#rest = tree.endRest(limits.childTermMs.default)
        resolve({ code, signal })
        // What was printed before the exit may still be on its way.
        setTimeout(() => this.#end({ code, signal }), lastWordsMs).unref()
      })
    })
    child.once('close', (code, signal) => this.#end({ code, signal }))
  }

  /** Frames on its standard output that are no JSON. */
  get junk(): readonly string[] {
    return this.#junk
  }

  /** The end of its error output. */
  get stderr(): string {
    return this.#stderr
  }

  async send(text: string): Promise<void> {
    const { stdin } = this.#child
    if (stdin.writable) stdin.write(this.#framing.write(text))
  }

  /** Ends its input, and gives how it exited within the time; undefined if it did not. */
  async endInput(ms: number): Promise<Exit | undefined> {
    this.#child.stdin.end()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<undefined>(resolve => {
      timer = setTimeout(() => resolve(undefined), ms)
    })
    const exit = await Promise.race([this.exited, late])
    clearTimeout(timer)
    return exit
  }

  async close(): Promise<void> {
    if ((await this.endInput(closeMs)) === undefined) {
      this.#tree.signal('SIGKILL')
      await this.exited
    }
    await this.#rest
  }

  #end(exit: Exit): void {
    this.inbox.end(exitText(exit, this.#stderr))
  }

  #reader(): FrameReader {
    const junk = this.#junk
    return this.#framing.reader(
      {
        frame: (bytes, start, end) => {
          const text = Buffer.from(bytes.subarray(start, end)).toString('utf8')
          if (!this.inbox.pushText(text)) junk.push(text)
        },
        oversize: () => junk.push('(a message beyond every limit)'),
        broken: why => junk.push(`(${why})`),
      },
      limits.checkBodyBytes.default,
    )
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
