import { execFile, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { limits } from '../../util/limits/limits.ts'
import type { Clock } from '../../util/time/clock.ts'
import { within } from '../within.ts'
import { atProcessEnd } from './termination.ts'

/**
 * A process that leads its own group, and everything it has started.
 *
 * From the beginning until nothing of it is left, the end of this process is the end of the tree: by
 * `process.exit`, by an error nobody caught, and by SIGTERM, SIGINT and SIGHUP. Where the program
 * listens to such a signal itself, it decides what the signal means, and the tree lives until the
 * program ends. SIGKILL cannot be noticed: the leader then sees the end of its input, and no more.
 *
 * Signals go to the whole group and are never sent to a number that may already mean another
 * process. On Windows there are no groups: a tree can be killed only while its leader lives.
 */
export class ProcessTree {
  readonly #pid: number
  readonly #clock: Clock
  #gone = false

  constructor(pid: number, clock: Clock) {
    this.#pid = pid
    this.#clock = clock
    if (trees.size === 0) stopWatching = atProcessEnd(killAll)
    trees.add(this)
  }

  /** Sends a signal to every process of the tree. On Windows each signal kills. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.#gone) return
    if (isWindows) execFile('taskkill', taskkill(this.#pid), nothing)
    else signalGroup(this.#pid, signal)
  }

  /**
   * Ends what the leader, who has exited, left behind: SIGTERM, and after `termMs` SIGKILL.
   * Resolves when nothing is left.
   */
  async endRest(termMs: number): Promise<void> {
    if (this.#hasMembers()) {
      this.signal('SIGTERM')
      if (!(await this.#isGoneWithin(termMs))) {
        this.signal('SIGKILL')
        await this.#isGoneWithin(limits.childKillMs.default)
      }
    }
    this.#gone = true
    trees.delete(this)
    if (trees.size === 0) stopWatching()
  }

  /** For the end of this process, when nothing can be waited for. */
  kill(): void {
    if (isWindows) spawnSync('taskkill', taskkill(this.#pid), { stdio: 'ignore' })
    else signalGroup(this.#pid, 'SIGKILL')
  }

  async #isGoneWithin(limitMs: number): Promise<boolean> {
    const giveUpAt = this.#clock.now() + limitMs
    // Nobody is told of the end of a grandchild, so one has to look.
    for (let pauseMs = 1; this.#hasMembers(); pauseMs = Math.min(pauseMs * 2, 50)) {
      if (this.#clock.now() >= giveUpAt) return false
      await within(pauseMs, this.#clock, nothing)
    }
    return true
  }

  #hasMembers(): boolean {
    if (isWindows || !signalGroup(this.#pid, 0)) return false
    return process.platform !== 'linux' || hasLiveMembers(this.#pid)
  }
}

const isWindows = process.platform === 'win32'

// Of the process, because its end is one event for all trees.
const trees = new Set<ProcessTree>()

let stopWatching = nothing

function killAll(): void {
  for (const tree of trees) tree.kill()
}

/** Says whether there was anybody to signal. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch {
    // Nobody is there, or nobody who may be signalled.
    return false
  }
}

/**
 * Whether the group has more than dead members. Those stay in the table of processes until somebody
 * asks for their exit code, and in a container whose first process asks for none they stay for good.
 */
function hasLiveMembers(group: number): boolean {
  for (const entry of processes()) {
    const stat = readStat(entry)
    // After the name, which may hold anything but ends with the last parenthesis: state, parent, group.
    const [state, , memberOf] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3)
    if (Number(memberOf) === group && state !== 'Z' && state !== 'X') return true
  }
  return false
}

function processes(): string[] {
  try {
    return readdirSync('/proc').filter(entry => /^\d/.test(entry))
  } catch {
    return []
  }
}

function readStat(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    // It ended between the two looks.
    return ''
  }
}

function taskkill(pid: number): string[] {
  return ['/pid', String(pid), '/T', '/F']
}

function nothing(): void {}
