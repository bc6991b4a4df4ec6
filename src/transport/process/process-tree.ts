import { execFile, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { limits } from '../../util/limits/limits.ts'
import type { Clock } from '../../util/time/clock.ts'
import { sleep } from '../../util/time/sleep.ts'
import { onProcessExit } from './termination.ts'

/**
 * A process that leads its own process group, and all its descendants.
 *
 * Until no process is left, the exit of this process kills the tree: by `process.exit`, by an uncaught
 * exception, and by SIGTERM, SIGINT and SIGHUP. If the program handles such a signal itself, it decides
 * what the signal means, and the tree lives until the program exits. SIGKILL cannot be caught: the
 * leader then only sees the end of its input.
 *
 * Signals go to the whole group and are never sent to a pid that may have been reused. Windows has no
 * process groups: a tree can be killed only while its leader is alive.
 */
export class ProcessTree {
  readonly #pid: number
  readonly #clock: Clock
  #gone = false

  constructor(pid: number, clock: Clock) {
    this.#pid = pid
    this.#clock = clock
    if (trees.size === 0) stopWatching = onProcessExit(killAll)
    trees.add(this)
  }

  /** Sends a signal to every process of the tree. On Windows every signal kills. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.#gone) return
    if (isWindows) execFile('taskkill', taskkill(this.#pid), nothing)
    else signalGroup(this.#pid, signal)
  }

  /**
   * Terminates the descendants of a leader that has exited: SIGTERM, and after `termMs` SIGKILL.
   * Resolves when no process is left.
   */
  async terminateRest(termMs: number): Promise<void> {
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

  /** Kills the tree synchronously, for the exit of this process. */
  kill(): void {
    if (isWindows) spawnSync('taskkill', taskkill(this.#pid), { stdio: 'ignore' })
    else signalGroup(this.#pid, 'SIGKILL')
  }

  async #isGoneWithin(limitMs: number): Promise<boolean> {
    const giveUpAt = this.#clock.now() + limitMs
    // There is no event for the exit of a grandchild, so this polls.
    for (let pauseMs = 1; this.#hasMembers(); pauseMs = Math.min(pauseMs * 2, 50)) {
      if (this.#clock.now() >= giveUpAt) return false
      await sleep(pauseMs, this.#clock).done
    }
    return true
  }

  #hasMembers(): boolean {
    if (isWindows || !signalGroup(this.#pid, 0)) return false
    return process.platform !== 'linux' || hasLiveMembers(this.#pid)
  }
}

const isWindows = process.platform === 'win32'

// One per process, because its exit is one event for all trees.
const trees = new Set<ProcessTree>()

let stopWatching = nothing

function killAll(): void {
  for (const tree of trees) tree.kill()
}

/** Returns whether there was a process to signal. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch {
    // There is no such process, or no permission to signal it.
    return false
  }
}

/**
 * Whether the group has a member that is not a zombie. Zombies stay in the process table until their
 * parent reaps them, and in a container whose first process reaps none they stay forever.
 */
function hasLiveMembers(group: number): boolean {
  for (const entry of processes()) {
    const stat = readStat(entry)
    // The fields after the name, which can contain anything but ends with the last parenthesis.
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
    // The process exited in the meantime.
    return ''
  }
}

function taskkill(pid: number): string[] {
  return ['/pid', String(pid), '/T', '/F']
}

function nothing(): void {}
