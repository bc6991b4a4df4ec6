import { argumentsOf, name } from './tool.js'

/** The protocol version that each era is measured with: its newest. */
export const revisions = { session: '2025-11-25', stateless: '2026-07-28' }

const client = { name: 'bench', version: '1.0.0' }

const sender = {
  'io.modelcontextprotocol/protocolVersion': revisions.stateless,
  'io.modelcontextprotocol/clientInfo': client,
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** Returns a request as text. In the stateless era it describes its sender. */
export function request(era, id, method, params) {
  const said = era === 'session' ? params : { ...params, _meta: sender }
  return JSON.stringify({ jsonrpc: '2.0', id, method, params: said })
}

/** Returns a call of the tool that all suites measure. */
export function toolRequest(era, id) {
  return request(era, id, 'tools/call', { name, arguments: argumentsOf(id) })
}

/** Returns the handshake: one request and the notifications after it, as texts. */
export function opening(era) {
  if (era === 'stateless')
    return { request: request(era, 'open', 'server/discover', {}), notifications: [] }
  const params = { protocolVersion: revisions.session, capabilities: {}, clientInfo: client }
  const notifications = [JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })]
  return { request: request(era, 'open', 'initialize', params), notifications }
}
