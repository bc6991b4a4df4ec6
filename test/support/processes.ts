import { readdirSync, readFileSync } from 'node:fs'
import { vi } from 'vitest'
import { pollOptions } from './poll-options.ts'

/** Returns whether a process exists and is not a zombie. */
export function isAlive(pid: number): boolean {
  if (process.platform !== 'linux') {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  const state = statOf(pid)?.state
  return state !== undefined && state !== 'Z' && state !== 'X'
}

/** Returns the ids of all descendants of a process that are still alive. */
export function descendants(of: number): readonly number[] {
  const children = new Map<number, number[]>()
  for (const entry of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    const stat = statOf(Number(entry))
    if (stat === undefined || stat.state === 'Z' || stat.state === 'X') continue
    children.set(stat.parent, [...(children.get(stat.parent) ?? []), Number(entry)])
  }
  const found: number[] = []
  const look = (pid: number): void => {
    for (const child of children.get(pid) ?? []) {
      found.push(child)
      look(child)
    }
  }
  look(of)
  return found
}

/** Polls until the condition holds. */
export async function until(isSo: () => boolean): Promise<void> {
  await vi.waitUntil(isSo, pollOptions)
}

function statOf(pid: number): { readonly state: string; readonly parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 2)
    return { state, parent: Number(parent) }
  } catch {
    return undefined
  }
}
