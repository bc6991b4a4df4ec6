import { exactly, living } from '../rules/moment.ts'
import type { LocalEngine } from './engine.ts'

/** Returns internal state of an engine. Its keys begin with NUL, which no key of a user contains. */
export function readState<T>(engine: LocalEngine, key: string): T | undefined {
  const row = living(engine.tables.records.get(`\0${key}`), exactly(engine.now()))
  // The check: only writeState stores records under keys that begin with NUL.
  return row === undefined ? undefined : (JSON.parse(row.value) as T)
}

/** Stores internal state of an engine. */
export function writeState(engine: LocalEngine, key: string, state: unknown, until: number): void {
  const value = JSON.stringify(state)
  const row = { value, node: undefined, epoch: 0, isFinal: false, isDeleted: false, until }
  engine.tables.records.set(`\0${key}`, row)
  engine.tables.sweep(engine.now())
}
