/**
 * SipHash-2-4 with 128 bits of output, by J.-P. Aumasson and D. J. Bernstein: a keyed hash for short
 * messages. Whoever does not have the key, of 16 bytes, cannot tell the hash of a message that he has
 * not seen the hash of.
 *
 * Here because the platform's own keyed hashes answer later, and some callers cannot wait.
 */
export function sipHash(key: Uint8Array, message: Uint8Array): Uint8Array {
  const keys = new DataView(key.buffer, key.byteOffset, 16)
  const k0 = keys.getBigUint64(0, true)
  const k1 = keys.getBigUint64(8, true)
  const state: State = {
    v0: k0 ^ 0x736f6d6570736575n,
    v1: k1 ^ 0x646f72616e646f6dn ^ 0xeen,
    v2: k0 ^ 0x6c7967656e657261n,
    v3: k1 ^ 0x7465646279746573n,
  }
  for (const word of wordsOf(message)) {
    state.v3 ^= word
    mix(state, 2)
    state.v0 ^= word
  }
  const hash = new DataView(new ArrayBuffer(16))
  state.v2 ^= 0xeen
  mix(state, 4)
  hash.setBigUint64(0, state.v0 ^ state.v1 ^ state.v2 ^ state.v3, true)
  state.v1 ^= 0xddn
  mix(state, 4)
  hash.setBigUint64(8, state.v0 ^ state.v1 ^ state.v2 ^ state.v3, true)
  return new Uint8Array(hash.buffer)
}

interface State {
  v0: bigint
  v1: bigint
  v2: bigint
  v3: bigint
}

/** The message as numbers of 64 bits; the last one holds what is left and the length. */
function* wordsOf(message: Uint8Array): Generator<bigint> {
  const padded = new Uint8Array(Math.floor(message.length / 8) * 8 + 8)
  padded.set(message)
  padded[padded.length - 1] = message.length
  const words = new DataView(padded.buffer)
  for (let place = 0; place < padded.length; place += 8) yield words.getBigUint64(place, true)
}

function mix(state: State, rounds: number): void {
  let { v0, v1, v2, v3 } = state
  for (let round = 0; round < rounds; round++) {
    v0 = BigInt.asUintN(64, v0 + v1)
    v2 = BigInt.asUintN(64, v2 + v3)
    v1 = turn(v1, 13n) ^ v0
    v3 = turn(v3, 16n) ^ v2
    v0 = turn(v0, 32n)
    v0 = BigInt.asUintN(64, v0 + v3)
    v2 = BigInt.asUintN(64, v2 + v1)
    v3 = turn(v3, 21n) ^ v0
    v1 = turn(v1, 17n) ^ v2
    v2 = turn(v2, 32n)
  }
  state.v0 = v0
  state.v1 = v1
  state.v2 = v2
  state.v3 = v3
}

function turn(value: bigint, bits: bigint): bigint {
  return BigInt.asUintN(64, value << bits) | (value >> (64n - bits))
}
