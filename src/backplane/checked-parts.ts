import type { Backplane } from './backplane.ts'
import {
  checkBucket,
  checkCount,
  checkKey,
  checkLogEntries,
  checkMs,
  checkNode,
  checkOwner,
  checkSharedText,
  checkWrite,
} from './input-checks.ts'
import type { SharedLog } from './log.ts'
import type { Membership } from './membership.ts'
import type { MessageBus } from './message-bus.ts'
import type { RecordStore } from './record-store.ts'
import type { SharedRates } from './shared-rates.ts'

/** The parts of a backplane that take input. */
export type BackplaneParts = Pick<Backplane, 'membership' | 'store' | 'log' | 'bus' | 'rates'>

/** Returns parts that check all input before an engine gets it, so that every engine accepts the same. */
export function checkedParts(parts: BackplaneParts): BackplaneParts {
  return {
    membership: checkedMembership(parts.membership),
    store: checkedStore(parts.store),
    log: checkedLog(parts.log),
    bus: checkedBus(parts.bus),
    rates: checkedRates(parts.rates),
  }
}

function checkedMembership(membership: Membership): Membership {
  return {
    async heartbeat(node, facts, leaseMs, since) {
      checkNode(node)
      checkSharedText(facts, 'text of facts')
      checkMs(leaseMs, 'leaseMs')
      checkCount(since, 'since')
      return membership.heartbeat(node, facts, leaseMs, since)
    },
    async expel(node, silentMs) {
      checkNode(node)
      checkCount(silentMs, 'silentMs')
      return membership.expel(node, silentMs)
    },
    async leave(node) {
      checkNode(node)
      return membership.leave(node)
    },
  }
}

function checkedStore(store: RecordStore): RecordStore {
  return {
    async get(key) {
      checkKey(key)
      return store.get(key)
    },
    async getAll(keys) {
      for (const key of keys) checkKey(key)
      return store.getAll(keys)
    },
    async claim(key, from, node, write) {
      checkKey(key)
      checkNode(node)
      if (from !== undefined) checkNode(from)
      if (write !== undefined) checkWrite(write)
      return store.claim(key, from, node, write)
    },
    async put(key, write, owner) {
      checkKey(key)
      checkWrite(write)
      checkOwner(owner)
      return store.put(key, write, owner)
    },
    async swap(key, before, write) {
      checkKey(key)
      checkWrite(write)
      return store.swap(key, before, write)
    },
    async delete(key, owner) {
      checkKey(key)
      if (owner !== undefined) checkOwner(owner)
      return store.delete(key, owner)
    },
    async touch(keys, ttlMs) {
      for (const key of keys) checkKey(key)
      checkMs(ttlMs, 'ttlMs')
      return store.touch(keys, ttlMs)
    },
    async add(set, name, ttlMs, max) {
      checkKey(set, 'set')
      checkKey(name, 'name')
      checkMs(ttlMs, 'ttlMs')
      if (max !== undefined) checkCount(max, 'max')
      return store.add(set, name, ttlMs, max)
    },
    async remove(set, name) {
      checkKey(set, 'set')
      checkKey(name, 'name')
      return store.remove(set, name)
    },
    async *names(set) {
      checkKey(set, 'set')
      yield* store.names(set)
    },
  }
}

function checkedLog(log: SharedLog): SharedLog {
  return {
    async append(key, entries, retention) {
      checkKey(key)
      checkLogEntries(entries)
      checkMs(retention.ttlMs, 'ttlMs')
      checkCount(retention.max, 'max', 1)
      return log.append(key, entries, retention)
    },
    async readAfter(key, position, max) {
      checkKey(key)
      checkCount(max, 'max', 1)
      return log.readAfter(key, position, max)
    },
    async delete(key) {
      checkKey(key)
      return log.delete(key)
    },
  }
}

function checkedBus(bus: MessageBus): MessageBus {
  return {
    publish(channel, text) {
      checkKey(channel, 'channel')
      checkSharedText(text, 'message')
      bus.publish(channel, text)
    },
    async subscribe(channel, subscriber) {
      checkKey(channel, 'channel')
      return bus.subscribe(channel, subscriber)
    },
  }
}

function checkedRates(rates: SharedRates): SharedRates {
  return {
    async take(buckets) {
      for (const bucket of buckets) checkBucket(bucket)
      return rates.take(buckets)
    },
    async leaseSlots(name, total, node, want, ttlMs) {
      checkKey(name, 'name')
      checkNode(node)
      checkCount(total, 'total')
      checkCount(want, 'want')
      checkMs(ttlMs, 'ttlMs')
      return rates.leaseSlots(name, total, node, want, ttlMs)
    },
  }
}
