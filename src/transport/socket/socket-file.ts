import { chmodSync, lstatSync, type Stats, unlinkSync } from 'node:fs'
import { connect, type ListenOptions, type Server } from 'node:net'
import { isMainThread } from 'node:worker_threads'
import { ChannelError } from '../../jsonrpc/channel.ts'
import { bind, systemCode } from '../listener.ts'

// sockaddr_un has 108 bytes on Linux and 104 on macOS and the BSDs, the closing NUL included.
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103

/**
 * Binds a server to a socket file that only its owner can use, from the moment the file exists. In a
 * worker thread, which cannot set the umask, from a moment later.
 *
 * A stale file of a dead server is replaced; a file whose server answers, or that is not a socket, is
 * never touched. Rejects with a ChannelError `'refused'`.
 */
export async function bindSocketFile(
  server: Server,
  path: string,
  options: Pick<ListenOptions, 'exclusive'> = {},
): Promise<void> {
  checkLength(path)
  try {
    await bindPrivate(server, { ...options, path })
  } catch (error) {
    if (!(error instanceof ChannelError) || systemCode(error.cause) !== 'EADDRINUSE') throw error
    await removeStale(path)
    await bindPrivate(server, { ...options, path })
  }
  try {
    chmodSync(path, 0o600)
  } catch (cause) {
    server.close()
    throw new ChannelError('refused', `listening on unix:${path}: its permissions cannot be set`, {
      cause,
    })
  }
}

/**
 * Creates the file without permissions for others: with a later chmod alone, others could connect
 * before it.
 */
function bindPrivate(
  server: Server,
  options: ListenOptions & { readonly path: string },
): Promise<void> {
  const address = `unix:${options.path}`
  if (!isMainThread) return bind(server, address, options)
  // The owner keeps all permissions, because another thread may create directories at this moment.
  const before = process.umask(0o077)
  try {
    // The file exists when this returns; the promise resolves later.
    return bind(server, address, options)
  } finally {
    process.umask(before)
  }
}

/** The system would reject a longer path with an obscure error, or truncate it. */
function checkLength(path: string): void {
  const bytes = Buffer.byteLength(path)
  if (bytes <= MAX_PATH_BYTES) return
  throw new ChannelError(
    'refused',
    `listening on unix:${path}: the path has ${bytes} bytes, the system allows ${MAX_PATH_BYTES}`,
  )
}

async function removeStale(path: string): Promise<void> {
  const before = statOf(path)
  if (before === undefined) return
  if (!before.isSocket()) {
    throw new ChannelError('refused', `listening on unix:${path}: it exists and is not a socket`)
  }
  if (!(await isDead(path))) {
    throw new ChannelError('refused', `listening on unix:${path}: already in use`)
  }
  // Another server may have replaced the file in the meantime; then it is not the stale one.
  const now = statOf(path)
  if (now !== undefined && now.ino === before.ino && now.ctimeMs === before.ctimeMs) {
    unlinkSync(path)
  }
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

/** Only ECONNREFUSED proves that no server listens; a full backlog or a missing permission does not. */
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
