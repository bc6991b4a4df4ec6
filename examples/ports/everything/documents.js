// @ts-check
// The documents that come with the published server.

import { readdirSync, readFileSync } from 'node:fs'

const folder = new URL(
  'docs/',
  import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
)

export const documents = readdirSync(folder)

/** @param {string} name */
export function readDocument(name) {
  return readFileSync(new URL(encodeURIComponent(name), folder), 'utf8')
}
