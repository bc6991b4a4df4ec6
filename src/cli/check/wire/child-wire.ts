import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { ChildCommand } from '../../../transport/process/child.ts'
import { childEnvironment } from '../../../transport/process/environment.ts'
import { ProcessTree } from '../../../transport/process/process-tree.ts'
import { tellingLine } from '../../../transport/process/telling-line.ts'
import { limits } from '../../../util/limits/limits.ts'
import { systemClock } from '../../../util/time/clock.ts'
import type { FrameReader, Framing, FramingName } from '../../../wire/frame.ts'
import { framing } from '../../../wire/framing.ts'
import { IncomingQueue, type Wire } from './wire.ts'

/** Exit status of a process: an exit code, or the signal that killed it. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Characters of stderr to keep. */
const maxStderrCharacters = 20_000

/** Starts a process. Rejects with the system error if the process cannot be started. */
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

/** A wire over the pipes of a child process. It records invalid output on stdout, and the tail of stderr. */
export class ChildWire implements Wire {
  readonly incoming = new IncomingQueue()
  readonly exited: Promise<Exit>
  readonly #child: ChildProcessWithoutNullStreams
  readonly #tree: ProcessTree
  readonly #framing: Framing
  readonly #junk: string[] = []
  #stderr = ''
  /** Settles when the descendants that the process left behind have been terminated. */
  #rest: Promise<void> = Promise.resolve()

  constructor(child: ChildProcessWithoutNullStreams, tree: ProcessTree, how: Framing) {
    this.#child = child
    this.#tree = tree
    this.#framing = how
    const reader = this.#reader()
    child.stdout.on('data', (chunk: Buffer) => reader.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-maxStderrCharacters)
    })
    // The exit status says more than a stream error does.
    for (const stream of [child, child.stdin, child.stdout, child.stderr]) {
      stream.on('error', () => {})
    }
    this.exited = new Promise(resolve => {
      child.once('exit', (code, signal) => {
        this.#rest = tree.terminateRest(limits.childTermMs.default)
        resolve({ code, signal })
        // Output written before the exit may still be in the pipe.
        setTimeout(() => this.#end({ code, signal }), finalReadMs).unref()
      })
    })
    child.once('close', (code, signal) => this.#end({ code, signal }))
  }

  /** Frames on stdout that are not JSON. */
  get junk(): readonly string[] {
    return this.#junk
  }

  /** The tail of stderr. */
  get stderr(): string {
    return this.#stderr
  }

  async send(text: string): Promise<void> {
    const { stdin } = this.#child
    if (stdin.writable) stdin.write(this.#framing.write(text))
  }

  /** Closes stdin. Resolves with the exit status, or with undefined if the process outlives `ms`. */
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
    this.incoming.close(exitText(exit, this.#stderr))
  }

  #reader(): FrameReader {
    const junk = this.#junk
    return this.#framing.reader(
      {
        frame: (bytes, start, end) => {
          const text = Buffer.from(bytes.subarray(start, end)).toString('utf8')
          if (!this.incoming.pushText(text)) junk.push(text)
        },
        oversize: () => junk.push('(a message that exceeds the size limit)'),
        broken: reason => junk.push(`(${reason})`),
      },
      limits.checkBodyBytes.default,
    )
  }
}

/** Time to read remaining output after the exit, because another process may hold the pipe open. */
const finalReadMs = limits.finalReadMs.default
/** Time the process has to exit after its stdin was closed. Then it is killed. */
const closeMs = limits.checkNoReplyMs.default

/** Describes an exit status, with the line of stderr that explains it. */
export function exitText({ code, signal }: Exit, stderr = ''): string {
  const how = signal === null ? `exited with code ${code}` : `was killed by ${signal}`
  const why = tellingLine(stderr)
  return why === undefined ? `the process ${how}` : `the process ${how}: ${why}`
}
