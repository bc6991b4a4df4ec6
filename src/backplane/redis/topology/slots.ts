import { arrayReply, numberReply } from '../replies.ts'

/** The number of hash slots of a Redis Cluster. */
const slotCount = 16_384

/** The remainders of CRC-16/XMODEM for each byte. */
const remainders = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
  return crc & 0xffff
})

/** Returns the hash slot of a key: that of the part in braces if it has one. */
export function slotOf(key: string): number {
  const start = key.indexOf('{') + 1
  const end = start === 0 ? -1 : key.indexOf('}', start)
  const tag = end > start ? key.slice(start, end) : key
  let crc = 0
  for (const byte of new TextEncoder().encode(tag)) {
    crc = ((crc << 8) & 0xffff) ^ (remainders[(crc >> 8) ^ byte] ?? 0)
  }
  return crc % slotCount
}

/** The hash slots that one primary has, from the first to the last. */
export interface SlotRange {
  readonly first: number
  readonly last: number
  readonly host: string
  readonly port: string
}

/** Reads the reply to `CLUSTER SLOTS`. An engine that does not know its own host is at `asked`. */
export function slotRanges(reply: unknown, asked: string): readonly SlotRange[] {
  return arrayReply(reply).map(range => {
    const [first, last, primary] = arrayReply(range)
    const [host, port] = arrayReply(primary)
    const isKnown = typeof host === 'string' && host !== '' && host !== '?'
    return {
      first: numberReply(first),
      last: numberReply(last),
      host: isKnown ? host : asked,
      port: `${numberReply(port)}`,
    }
  })
}
