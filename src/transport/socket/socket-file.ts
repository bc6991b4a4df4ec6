import { chmodSync, lstatSync, type Stats, unlinkSync } from 'node:fs'
import { connect, type Server } from 'node:net'
import { isMainThread } from 'node:worker_threads'
import { ChannelError } from '../../jsonrpc/channel.ts'
import { bind, systemCode } from '../listener.ts'

// sockaddr_un has 108 bytes on Linux and 104 on macOS and the BSDs, the closing NUL included.
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103

/**
 * Binds a server to a socket file that its owner alone may use, from the moment the file exists. In
 * a worker thread, which has no say over the modes of new files, from a moment later.
 *
 * A file that a dead server left behind is replaced; one where somebody answers, or that is no
 * socket, is never touched. Rejects with a ChannelError `'refused'`.
 */
export async function bindSocketFile(server: Server, path: string): Promise<void> {
  checkLength(path)
  try {
    await bindGuarded(server, path)
  } catch (error) {
    if (!(error instanceof ChannelError) || systemCode(error.cause) !== 'EADDRINUSE') throw error
    await removeStale(path)
    await bindGuarded(server, path)
  }
  try {
    chmodSync(path, 0o600)
  } catch (cause) {
    server.close()
    throw new ChannelError('refused', `listening on unix:${path}: it cannot be guarded`, { cause })
  }
}

/** Makes the file with no rights for others: a later chmod alone would leave a gap to connect in. */
function bindGuarded(server: Server, path: string): Promise<void> {
  if (!isMainThread) return bind(server, `unix:${path}`, { path })
  // The owner keeps all rights, for the sake of folders that another thread makes at this moment.
  const before = process.umask(0o077)
  try {
    // The file exists when this returns, and is reported later.
    return bind(server, `unix:${path}`, { path })
  } finally {
    process.umask(before)
  }
}

/** The system would refuse a longer path in words nobody understands, or cut it. */
function checkLength(path: string): void {
  const bytes = Buffer.byteLength(path)
  if (bytes <= MAX_PATH_BYTES) return
  throw new ChannelError(
    'refused',
    `listening on unix:${path}: the path has ${bytes} bytes, the system takes ${MAX_PATH_BYTES}`,
  )
}

async function removeStale(path: string): Promise<void> {
  const before = statOf(path)
  if (before === undefined) return
  if (!before.isSocket()) {
    throw new ChannelError('refused', `listening on unix:${path}: it exists and is no socket`)
  }
  if (!(await isDead(path))) {
    throw new ChannelError('refused', `listening on unix:${path}: already in use`)
  }
  // Another server may have cleaned up and bound while we asked; then the file is not the dead one.
  const now = statOf(path)
  if (now !== undefined && now.ino === before.ino && now.ctimeMs === before.ctimeMs) {
    unlinkSync(path)
  }
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

/** Only a refused connection shows that nobody listens; a full queue or a missing right does not. */
function isDead(path: string): Promise<boolean> {
  return new Promise(resolve => {
    const probe = connect({ path })
    probe.once('connect', () => {
      probe.destroy()
      resolve(false)
    })
    probe.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'ECONNREFUSED')
    })
  })
}
