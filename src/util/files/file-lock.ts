import { link, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { limits } from '../limits/limits.ts'
import { randomHex } from '../random.ts'
import { systemClock } from '../time/clock.ts'
import { sleep } from '../time/sleep.ts'

/**
 * Runs work while this process holds a lock file, which only one process can create. A lock whose process has
 * ended, so that it was not renewed for `staleMs`, is taken over.
 */
export async function withLock<T>(
  path: string,
  staleMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const mark = `${process.pid} ${randomHex(16)}`
  while (!(await create(path, mark))) {
    if (await isStale(path, staleMs)) await takeAway(path, staleMs)
    else await sleep(limits.lockPollMs.default * (0.5 + Math.random()), systemClock).done
  }
  const renewal = setInterval(() => void renew(path), staleMs / 6)
  renewal.unref()
  try {
    return await work()
  } finally {
    clearInterval(renewal)
    // Not if it was taken over, because this process was stopped for long.
    if ((await markOf(path)) === mark) await rm(path, { force: true })
  }
}

async function create(path: string, mark: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600)
    await file.writeFile(mark)
    await file.close()
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

async function renew(path: string): Promise<void> {
  const now = new Date()
  await utimes(path, now, now).catch(() => {})
}

async function isStale(path: string, staleMs: number): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs > staleMs
}

/**
 * Removes a stale lock. It is renamed first, which only one of several processes can do, and put back if it
 * turns out that another process had already replaced it by its own.
 */
async function takeAway(path: string, staleMs: number): Promise<void> {
  const aside = `${path}.${randomHex(8)}`
  try {
    await rename(path, aside)
  } catch {
    return
  }
  // A failure to put it back means that the next process has the lock already.
  if (!(await isStale(aside, staleMs))) await link(aside, path).catch(() => {})
  await rm(aside, { force: true })
}

function markOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined)
}
