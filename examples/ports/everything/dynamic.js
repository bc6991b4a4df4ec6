// @ts-check
// Resources that are made up when they are read: a text or a blob for each positive integer.

import * as z from 'zod'

const base = 'demo://resource/dynamic'
export const kind = z.enum(['Text', 'Blob'])

/** @param {string | number} id */
export const isId = id => Number.isInteger(Number(id)) && Number(id) > 0

/**
 * @param {number} id
 * @param {string} [uri]
 */
export function textResource(id, uri = `${base}/text/${id}`) {
  const text = `Resource ${id}: This is a plaintext resource created at ${now()}`
  return { uri, mimeType: 'text/plain', text }
}

/**
 * @param {number} id
 * @param {string} [uri]
 */
export function blobResource(id, uri = `${base}/blob/${id}`) {
  const blob = Buffer.from(`Resource ${id}: This is a base64 blob created at ${now()}`)
  return { uri, mimeType: 'text/plain', blob }
}

/**
 * The resource of a kind. Throws for an id that is no positive integer.
 *
 * @param {z.infer<typeof kind>} wanted
 * @param {string | number} id
 */
export function resourceOf(wanted, id) {
  if (!isId(id)) {
    throw new Error(`Invalid resourceId: ${id}. Must be a finite positive integer.`)
  }
  return wanted === 'Text' ? textResource(Number(id)) : blobResource(Number(id))
}

function now() {
  return new Date().toLocaleTimeString()
}
