import { randomFillSync } from 'node:crypto'
import { closeSync, openSync, renameSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { MiB } from '../../util/limits/limit.ts'

/** Disk space that is kept for the time when the disk is full. */
export interface Reserve {
  /** Gives the space to the file system, so that SQLite can use it. */
  release(): void
  /** Takes the space again, if half as much stays free for others. Returns whether it is held now. */
  restore(): boolean
}

/** Keeps a reserve of some size in a file. All processes that use the same file share it. */
export function reserveFile(path: string, bytes: number): Reserve {
  return {
    release: () => rmSync(path, { force: true }),
    restore: () => {
      if (statSync(path, { throwIfNoEntry: false })?.size === bytes) return true
      const fresh = `${path}.${process.pid}`
      try {
        // Otherwise the disk would be full again at once: the space that was released is still there.
        const { bavail, bsize } = statfsSync(dirname(path))
        if (bavail * bsize < bytes * 1.5) return false
        rmSync(fresh, { force: true })
        fill(fresh, bytes)
        renameSync(fresh, path)
        return true
      } catch {
        rmSync(fresh, { force: true })
        return false
      }
    },
  }
}

/** Writes random bytes to a new file. No file system stores them in less space. */
function fill(path: string, bytes: number): void {
  const piece = randomFillSync(new Uint8Array(Math.min(bytes, MiB)))
  const file = openSync(path, 'wx', 0o600)
  try {
    for (let left = bytes; left > 0; ) {
      left -= writeSync(file, piece, 0, Math.min(left, piece.length))
    }
  } finally {
    closeSync(file)
  }
}
