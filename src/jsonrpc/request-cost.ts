import { jsonMemory } from '../util/json-memory.ts'
import type { RpcRequest } from './message.ts'

/**
 * Estimates the memory that a request takes while it is in flight. `bytes` is the length of its text, if
 * it is known: for a short text the values are not counted.
 */
export function requestCost(request: RpcRequest, bytes?: number): number {
  if (bytes !== undefined && bytes <= shortText) return baseCost
  return baseCost + jsonMemory(request.raw ?? request.params)
}

/** What a request with a short text takes, with everything that belongs to it. */
const baseCost = 2048
const shortText = 1024
