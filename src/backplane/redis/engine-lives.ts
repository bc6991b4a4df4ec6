import { randomHex } from '../../util/random.ts'
import { BackplaneError } from '../backplane-error.ts'
import type { EngineLives } from '../remote/engine-lives.ts'
import type { PreparedConnection } from './connection.ts'
import { textReply } from './replies.ts'

/**
 * Reads the random text of an engine's life, and makes one if there is none. Resolves to whether it is another one
 * than before.
 */
export async function startedNewLife(
  lives: EngineLives,
  connection: Pick<PreparedConnection, 'send'>,
  key: string,
): Promise<boolean> {
  // A full engine refuses this, and knows its text already or could not store anything anyway.
  await connection.send(['HSETNX', key, 'born', randomHex(8)]).catch(error => {
    if (!(error instanceof BackplaneError && error.code === 'full')) throw error
  })
  return lives.notice(key, textReply((await connection.send(['HGET', key, 'born'])) ?? 'full'))
}
