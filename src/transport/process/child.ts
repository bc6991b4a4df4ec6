import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Channel, ChannelError, type Sink } from '../../jsonrpc/channel.ts'
import { withMaxBytes } from '../../jsonrpc/codec/decode-rules.ts'
import type { Malformed, Message } from '../../jsonrpc/message.ts'
import { errorWords } from '../../util/error-words.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { type StreamOptions, streamChannel } from '../stream/stream.ts'
import { within } from '../within.ts'
import { childEnvironment } from './environment.ts'
import { ProcessTree } from './process-tree.ts'
import { Tail } from './tail.ts'

/** What to start. */
export interface ChildCommand {
  /** A path, or a name that is looked up in PATH. No shell reads it. */
  readonly command: string
  readonly args?: readonly string[]
  /** Variables besides the few that every child is given; undefined takes one of those away. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Names of further variables of this process that the child is given too. */
  readonly inheritEnv?: readonly string[]
  readonly cwd?: string
}

export interface ChildOptions extends Omit<StreamOptions, 'lent' | 'onJunk' | 'skipBom'> {
  /** Told the first time that the child prints something that is no JSON. By default on stderr. */
  readonly onJunk?: (malformed: Malformed) => void
  /** Such lines after which the child counts as broken. */
  readonly junkLines?: number
  /** Given the child's error output as it comes. */
  readonly onStderr?: (text: string) => void
  /** How much of the end of the error output is kept. */
  readonly stderrBytes?: number
  /** How long the child may take to leave after the end of its input. */
  readonly endMs?: number
  /** How long it, and what it has left behind, may take to leave after SIGTERM. */
  readonly termMs?: number
}

/** What there is to see of a child process. */
export interface ChildProcess {
  readonly pid: number
  /** The end of what the child has written to its error output until now. */
  readonly stderr: string
  /** Ends it and everything it has started at once, for one that does not heed anything else. */
  kill(): void
}

/** A channel to a child process. */
export interface ChildChannel extends Channel, ChildProcess {}

/**
 * Starts a program and talks to it over its standard input and output.
 *
 * The channel owns the program and everything the program starts. `close` ends its input, after
 * `endMs` sends SIGTERM to all of them and after `termMs` more SIGKILL, and resolves when nothing is
 * left. When the program exits by itself, what it leaves behind is ended the same way. The end of
 * this process kills whatever is still running.
 *
 * `closed` is told as soon as the program has exited and what it had written has been delivered, even
 * if its own children hold its output open; the cause says how it ended and what it complained of.
 * There is a cause unless `close` was called: exiting unasked is never in good order. Lines that are
 * no JSON are passed over and counted. Rejects with a ChannelError `'refused'` that names the command
 * if it cannot be started.
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
      // A group of its own, so that one signal reaches all that it starts.
      detached: process.platform !== 'win32',
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    })
  } catch (cause) {
    throw refused(command, env, cause)
  }
  if (child.pid !== undefined) return new ProcessChannel(child, child.pid, command.command, options)
  const [cause] = await once(child, 'error')
  throw refused(command, env, cause)
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** How much of the error output a cause repeats. */
const causeCharacters = 2000
/** How much of a finding about its output is printed. */
const junkCharacters = 200

class ProcessChannel implements ChildChannel {
  readonly pid: number
  readonly #child: Child
  readonly #clock: Clock
  readonly #endMs: number
  readonly #termMs: number
  readonly #tree: ProcessTree
  readonly #tail: Tail
  readonly #stream: Channel
  readonly #exited: Promise<void>
  readonly #allRead: Promise<void>
  readonly #name: string
  #howItExited: string | undefined
  #rest: Promise<void> | undefined
  #sink: Sink | undefined
  #junk = 0
  #streamCause: Error | undefined
  #isConcluding = false
  #told = false
  #closing: Promise<void> | undefined

  constructor(child: Child, pid: number, name: string, options: ChildOptions) {
    this.pid = pid
    this.#child = child
    this.#name = name
    this.#clock = options.clock ?? systemClock
    this.#endMs = options.endMs ?? limits.childEndMs.default
    this.#termMs = options.termMs ?? limits.childTermMs.default
    this.#tree = new ProcessTree(pid, this.#clock)
    this.#tail = new Tail(options.stderrBytes ?? limits.stderrBytes.default)
    this.#exited = new Promise(resolve => {
      child.once('exit', (code, signal) => {
        this.#howItExited = signal === null ? `exited with code ${code}` : `was ended by ${signal}`
        this.#rest = this.#tree.endRest(this.#termMs)
        resolve()
        void this.#conclude()
      })
    })
    this.#allRead = new Promise(resolve => child.once('close', () => resolve()))
    // The streams fail in ways the exit explains better, also when nobody uses them any more.
    for (const each of [child, child.stdin, child.stdout, child.stderr]) each.on('error', nothing)
    this.#watchStderr(options.onStderr)
    this.#stream = streamChannel(child.stdout, child.stdin, {
      oversize: 'continue',
      ...options,
      decode: withMaxBytes(options.decode, limits.stdioMessageBytes.default),
      onJunk: malformed => this.#onJunk(malformed, options),
      skipBom: true,
      lent: true,
    })
  }

  get stderr(): string {
    return this.#tail.text
  }

  open(sink: Sink): void {
    this.#stream.open({
      receive: (arrival, envelope) => sink.receive(arrival, envelope),
      closed: cause => {
        this.#streamCause ??= cause
        void this.#conclude()
      },
    })
    this.#sink = sink
    if (this.#howItExited !== undefined) void this.#conclude()
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
    // Nobody listens any more, but a child that cannot write does not leave.
    this.#child.stdout.resume()
    if (!(await this.#isGoneWithin(this.#endMs))) {
      this.#tree.signal('SIGTERM')
      if (!(await this.#isGoneWithin(this.#termMs))) {
        this.#tree.signal('SIGKILL')
        await this.#isGoneWithin(limits.childKillMs.default)
      }
    }
    await this.#rest
    this.#letGo()
    this.#tell()
  }

  #isGoneWithin(limitMs: number): Promise<boolean> {
    return within(limitMs, this.#clock, done => void this.#exited.then(done))
  }

  /** The child has exited or its output is over: waits a moment for the other, then tells. */
  async #conclude(): Promise<void> {
    if (this.#sink === undefined || this.#isConcluding || this.#closing !== undefined) return
    this.#isConcluding = true
    if (await this.#isGoneWithin(limits.childExitMs.default)) {
      // Long in coming where a grandchild holds the output open.
      const isRead = await within(
        limits.lastWordsMs.default,
        this.#clock,
        done => void this.#allRead.then(done),
      )
      // If this process was busy all that time, the output has come but nobody has looked yet.
      if (!isRead) await nextTurn()
    }
    if (this.#howItExited !== undefined) {
      void this.#stream.close()
      this.#letGo()
    }
    this.#tell(this.#reason())
  }

  #onJunk(malformed: Malformed, options: ChildOptions): 'drop' {
    const { onJunk = this.#printJunk, junkLines = limits.junkLines.default } = options
    this.#junk++
    if (this.#junk === 1) onJunk(malformed)
    if (this.#junk === junkLines + 1) {
      void this.#stream.close()
      const what = `"${this.#name}" printed more than ${junkLines} lines that are no JSON`
      this.#tell(new ChannelError('framing', what))
    }
    return 'drop'
  }

  #printJunk = ({ detail }: Malformed): void => {
    // The detail repeats the beginning of the line, which must not steer the terminal.
    const what = detail.replace(/\p{Cc}/gu, '?').slice(0, junkCharacters)
    console.error(`trunkline: passing over what "${this.#name}" prints that is no JSON: ${what}`)
  }

  #watchStderr(onStderr: ChildOptions['onStderr']): void {
    const decoder = new StringDecoder('utf8')
    // Always read: a child whose error output nobody takes stops as soon as the pipe is full.
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#tail.push(chunk)
      onStderr?.(decoder.write(chunk))
    })
  }

  #reason(): Error {
    if (this.#howItExited === undefined && this.#streamCause !== undefined) return this.#streamCause
    const how = this.#howItExited ?? 'closed its output'
    const complaint = this.stderr.trim().slice(-causeCharacters)
    const what = complaint === '' ? how : `${how}: ${complaint}`
    return new ChannelError('closed', `"${this.#name}" ${what}`, { cause: this.#streamCause })
  }

  #tell(cause?: Error): void {
    const sink = this.#sink
    if (sink === undefined || this.#told) return
    this.#told = true
    queueMicrotask(() => sink.closed(cause))
  }

  #letGo(): void {
    for (const each of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) each.destroy()
  }
}

function refused(
  command: ChildCommand,
  env: Readonly<Record<string, string>>,
  cause: unknown,
): ChannelError {
  const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
  const { cwd } = command
  let why = errorWords(cause)
  // The system says ENOENT of the command also when it is the folder that is missing.
  if (isMissing && cwd !== undefined && !existsSync(cwd)) why = `the folder "${cwd}" does not exist`
  else if (isMissing) why = `no such program; PATH is "${env.PATH ?? env.Path ?? ''}"`
  return new ChannelError('refused', `starting "${command.command}": ${why}`, { cause })
}

function nothing(): void {}
