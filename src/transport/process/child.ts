import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Channel, ChannelError, type Sink } from '../../jsonrpc/channel.ts'
import { withMaxBytes } from '../../jsonrpc/codec/decode-rules.ts'
import type { Malformed, Message } from '../../jsonrpc/message.ts'
import { limits } from '../../util/limits/limits.ts'
import { hideValues } from '../../util/text/hidden-values.ts'
import { printable } from '../../util/text/printable.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { withTimeout } from '../../util/time/sleep.ts'
import { type StreamOptions, streamChannel } from '../stream/stream.ts'
import { childEnvironment } from './environment.ts'
import { ProcessTree } from './process-tree.ts'
import { spawnFailure } from './spawn-failure.ts'
import { OutputTail } from './tail.ts'
import { tellingLine } from './telling-line.ts'

/** The command of a child process. */
export interface ChildCommand {
  /** A path, or a name that is looked up in PATH. It is not run by a shell. */
  readonly command: string
  /** The arguments of the program. */
  readonly args?: readonly string[]
  /** Variables in addition to the few that every child inherits; undefined removes one of those. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Names of further variables of this process that the child inherits. */
  readonly inheritEnv?: readonly string[]
  /** The folder in which the program starts; that of this process by default. */
  readonly cwd?: string
}

/** Options for the output and the termination of a child process. */
export interface ChildProcessOptions {
  /** Called for the first line of the child that is not JSON. Prints to stderr by default. */
  readonly onJunk?: (malformed: Malformed) => void
  /** The number of lines that are not JSON after which the channel closes. */
  readonly junkLines?: number
  /** Receives the child's stderr output as it arrives. */
  readonly onStderr?: (text: string) => void
  /** The number of bytes at the end of the stderr output that are kept. */
  readonly stderrBytes?: number
  /** Milliseconds that the child has to exit after the end of its input; then SIGTERM. */
  readonly endMs?: number
  /** Milliseconds that the child and its descendants have to exit after SIGTERM; then SIGKILL. */
  readonly termMs?: number
}

/** Options of a channel to a child process. */
export interface ChildOptions
  extends Omit<StreamOptions, 'leaveOpen' | 'onJunk' | 'skipBom'>,
    ChildProcessOptions {}

/** The process behind a ChildChannel. */
export interface ChildProcess {
  /** The process id. */
  readonly pid: number
  /** The end of the child's stderr output so far. */
  readonly stderr: string
  /** Kills the child and all its descendants at once, for one that ignores everything else. */
  kill(): void
}

/** A channel to a child process. */
export interface ChildChannel extends Channel, ChildProcess {}

/**
 * Starts a child process and makes a channel over its standard input and output.
 *
 * The channel owns the child and all its descendants. `close` ends its input, sends SIGTERM to all of them
 * after `endMs` and SIGKILL after `termMs` more, and resolves when none is left. When the child exits on
 * its own, its descendants are terminated the same way. When this process exits, all of them are killed.
 *
 * `closed` is called as soon as the child has exited and its output has been delivered, even if its own
 * children hold the output open; the cause contains the exit status and the line of stderr that explains
 * it. There is a cause unless `close` was called: an exit that was not requested is never clean. Lines that
 * are no JSON are skipped and counted. Rejects with a ChannelError `'refused'` that names the command if it
 * cannot be started.
 */
export async function childChannel(
  command: ChildCommand,
  options: ChildOptions = {},
): Promise<ChildChannel> {
  const env = childEnvironment(command.env, command.inheritEnv)
  let child: Child
  try {
    child = spawn(command.command, command.args ?? [], {
      cwd: command.cwd,
      env,
      // Its own process group, so that one signal reaches all descendants.
      detached: process.platform !== 'win32',
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    })
  } catch (cause) {
    throw spawnFailure(command, env, cause)
  }
  if (child.pid !== undefined) return new ProcessChannel(child, child.pid, command.command, options)
  const [cause] = await once(child, 'error')
  throw spawnFailure(command, env, cause)
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** The maximum length of the line of stderr in a cause. */
const causeCharacters = 500
/** The number of characters that are printed of a line that is not JSON. */
const junkCharacters = 200

class ProcessChannel implements ChildChannel {
  readonly pid: number
  readonly #child: Child
  readonly #clock: Clock
  readonly #endMs: number
  readonly #termMs: number
  readonly #tree: ProcessTree
  readonly #tail: OutputTail
  readonly #stream: Channel
  readonly #exited: Promise<void>
  readonly #allRead: Promise<void>
  readonly #name: string
  #exitStatus: string | undefined
  #terminatingRest: Promise<void> | undefined
  #sink: Sink | undefined
  #junk = 0
  #streamCause: Error | undefined
  #isFinishing = false
  #isNotified = false
  #closing: Promise<void> | undefined

  constructor(child: Child, pid: number, name: string, options: ChildOptions) {
    this.pid = pid
    this.#child = child
    this.#name = name
    this.#clock = options.clock ?? systemClock
    this.#endMs = options.endMs ?? limits.childEndMs.default
    this.#termMs = options.termMs ?? limits.childTermMs.default
    this.#tree = new ProcessTree(pid, this.#clock)
    this.#tail = new OutputTail(options.stderrBytes ?? limits.stderrBytes.default)
    this.#exited = new Promise(resolve => {
      child.once('exit', (code, signal) => {
        this.#exitStatus = signal === null ? `exited with code ${code}` : `was killed by ${signal}`
        this.#terminatingRest = this.#tree.terminateRest(this.#termMs)
        resolve()
        void this.#finish()
      })
    })
    this.#allRead = new Promise(resolve => child.once('close', () => resolve()))
    // The exit status explains stream errors better; they can also occur when the streams are no longer
    // used.
    for (const each of [child, child.stdin, child.stdout, child.stderr]) each.on('error', nothing)
    this.#watchStderr(options.onStderr)
    this.#stream = streamChannel(child.stdout, child.stdin, {
      oversize: 'continue',
      ...options,
      decode: withMaxBytes(options.decode, 'stdio', limits.stdioMessageBytes.default),
      onJunk: malformed => this.#onJunk(malformed, options),
      skipBom: true,
      turnBytes: limits.turnBytes.default,
      leaveOpen: true,
    })
  }

  get stderr(): string {
    return this.#tail.text
  }

  open(sink: Sink): void {
    this.#stream.open({
      receive: (arrival, envelope, bytes) => sink.receive(arrival, envelope, bytes),
      closed: cause => {
        this.#streamCause ??= cause
        void this.#finish()
      },
    })
    this.#sink = sink
    if (this.#exitStatus !== undefined) void this.#finish()
  }

  send(message: Message | readonly Message[]): void | Promise<void> {
    return this.#stream.send(message)
  }

  kill(): void {
    this.#tree.signal('SIGKILL')
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    await this.#stream.close()
    this.#child.stdin.end()
    // The output is no longer needed, but a child that cannot write would not exit.
    this.#child.stdout.resume()
    if (!(await this.#isGoneWithin(this.#endMs))) {
      this.#tree.signal('SIGTERM')
      if (!(await this.#isGoneWithin(this.#termMs))) {
        this.#tree.signal('SIGKILL')
        await this.#isGoneWithin(limits.childKillMs.default)
      }
    }
    await this.#terminatingRest
    this.#destroyStreams()
    this.#notifyClosed()
  }

  #isGoneWithin(limitMs: number): Promise<boolean> {
    return withTimeout(limitMs, this.#clock, done => void this.#exited.then(done))
  }

  /**
   * The child has exited or its output has ended: waits a moment for the other, then calls `closed`.
   */
  async #finish(): Promise<void> {
    if (this.#sink === undefined || this.#isFinishing || this.#closing !== undefined) return
    this.#isFinishing = true
    if (await this.#isGoneWithin(limits.childExitMs.default)) {
      // This takes long if a grandchild holds the output open.
      const isRead = await withTimeout(
        limits.finalReadMs.default,
        this.#clock,
        done => void this.#allRead.then(done),
      )
      // If this process was busy all that time, output may have arrived that was not read yet.
      if (!isRead) await nextTurn()
    }
    if (this.#exitStatus !== undefined) {
      void this.#stream.close()
      this.#destroyStreams()
    }
    this.#notifyClosed(this.#reason())
  }

  #onJunk(malformed: Malformed, options: ChildOptions): 'drop' {
    const { onJunk = this.#printJunk, junkLines = limits.junkLines.default } = options
    this.#junk++
    if (this.#junk === 1) onJunk(malformed)
    if (this.#junk === junkLines + 1) {
      void this.#stream.close()
      const message = `"${this.#name}" printed more than ${junkLines} lines that are not JSON`
      this.#notifyClosed(new ChannelError('framing', message))
    }
    return 'drop'
  }

  #printJunk = ({ detail }: Malformed): void => {
    // The detail contains the beginning of the line, which must not control the terminal.
    const excerpt = printable(detail).replace(/\s/g, ' ').slice(0, junkCharacters)
    console.error(`trunkline: ignoring output of "${this.#name}" that is not JSON: ${excerpt}`)
  }

  #watchStderr(onStderr: ChildOptions['onStderr']): void {
    const decoder = new StringDecoder('utf8')
    // Always read, because a child blocks once the pipe of its stderr is full.
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#tail.push(chunk)
      onStderr?.(decoder.write(chunk))
    })
  }

  #reason(): Error {
    if (this.#exitStatus === undefined && this.#streamCause !== undefined) return this.#streamCause
    const status = this.#exitStatus ?? 'closed its output'
    const line = tellingLine(hideValues(this.stderr))?.slice(0, causeCharacters)
    const reason = line === undefined ? status : `${status}: ${line}`
    return new ChannelError('closed', `"${this.#name}" ${reason}`, {
      cause: this.#streamCause,
      summary: `it ${status}`,
    })
  }

  #notifyClosed(cause?: Error): void {
    const sink = this.#sink
    if (sink === undefined || this.#isNotified) return
    this.#isNotified = true
    queueMicrotask(() => sink.closed(cause))
  }

  #destroyStreams(): void {
    for (const each of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) each.destroy()
  }
}

function nothing(): void {}
