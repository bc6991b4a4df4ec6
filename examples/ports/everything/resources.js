// @ts-check
// The resources: documents, resources that are made up when they are read, and files of a session.

import { documents, readDocument } from './documents.js'
import { blobResource, isId, textResource } from './dynamic.js'
import { server } from './server.js'

const complete = { resourceId: (/** @type {string} */ typed) => (isId(typed) ? [typed] : []) }

server.resourceTemplate(
  'Dynamic Text Resource',
  'demo://resource/dynamic/text/{resourceId}',
  {
    mimeType: 'text/plain',
    description:
      'Plaintext dynamic resource fabricated from the {resourceId} variable, which must be an integer.',
    complete,
  },
  ({ resourceId }, { uri }) =>
    isId(resourceId) ? textResource(Number(resourceId), uri) : undefined,
)

server.resourceTemplate(
  'Dynamic Blob Resource',
  'demo://resource/dynamic/blob/{resourceId}',
  {
    mimeType: 'application/octet-stream',
    description:
      'Binary (base64) dynamic resource fabricated from the {resourceId} variable, which must be an integer.',
    complete,
  },
  ({ resourceId }, { uri }) =>
    isId(resourceId) ? blobResource(Number(resourceId), uri) : undefined,
)

for (const name of documents) {
  const uri = `demo://resource/static/document/${encodeURIComponent(name)}`
  const description = `Static document file exposed from /docs: ${name}`
  server.resource(name, uri, { mimeType: 'text/markdown', description }, () => readDocument(name))
}

/** @type {WeakMap<object, Map<string, { uri: string, mimeType: string, blob: Buffer }>>} */
const files = new WeakMap()
/** Clients without sessions share their files. */
const filesOf = (/** @type {object | undefined} */ session) =>
  files.get(session ?? server) ?? new Map()

server.resourceTemplate(
  'Session File',
  'demo://resource/session/{+name}',
  {
    mimeType: 'application/gzip',
    description: 'File that a tool has made in this session',
    list: (_, { session }) => ({
      resources: Array.from(filesOf(session), ([name, { uri, mimeType }]) => ({
        uri,
        name,
        mimeType,
      })),
    }),
  },
  ({ name }, { session }) => filesOf(session).get(name),
)

/**
 * Keeps a file until the session ends.
 *
 * @param {object | undefined} session
 * @param {string} name
 * @param {Buffer} blob
 */
export function keepFile(session, name, blob) {
  const file = { uri: `demo://resource/session/${name}`, mimeType: 'application/gzip', blob }
  files.set(session ?? server, filesOf(session).set(name, file))
  server.changed('resources')
  return file
}
