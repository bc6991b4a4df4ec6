import { BackplaneError } from '../backplane-error.ts'
import type { RecordRow } from '../rules/records.ts'
import type { Codec } from './documents.ts'

/** A record as it is stored; the time when it ends is that of the document. */
export interface RecordValue extends Omit<RecordRow, 'until'> {
  /** Whether the claim that wrote this was to fence the log of the same key, which may have failed. */
  readonly fencesLog?: boolean
}

/**
 * A record as text: "<epoch> <node> <flag> <value>". Without an owner the epoch is 0 and the node "-". The flag is "f"
 * for a final record, "d" for a deleted one of which only the epoch is known, else "-"; with a "c" if a claim was to
 * fence the log.
 */
export const recordTexts: Codec<RecordValue> = {
  format: ({ epoch, node, isFinal, isDeleted, fencesLog, value }) =>
    `${epoch} ${node ?? '-'} ${isDeleted ? 'd' : isFinal ? 'f' : '-'}${fencesLog ? 'c' : ''} ${value}`,
  parse: text => {
    const [head = '', epoch = '', node = '', flag = ''] = /^(\d+) (\S+) ([-df]c?) /.exec(text) ?? []
    if (head === '') {
      throw new BackplaneError(
        'unknown',
        'a stored record has a form that this version does not know',
      )
    }
    return {
      value: text.slice(head.length),
      // A node may be named "-", but then its epoch is above 0.
      node: node === '-' && epoch === '0' ? undefined : node,
      epoch: Number(epoch),
      isFinal: flag.startsWith('f'),
      isDeleted: flag.startsWith('d'),
      fencesLog: flag.endsWith('c'),
    }
  },
}
