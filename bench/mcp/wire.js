import { argumentsOf, name } from './tool.js'

/** The revision that each era is measured with: its newest. */
export const revisions = { session: '2025-11-25', stateless: '2026-07-28' }

const client = { name: 'bench', version: '1.0.0' }

const sender = {
  'io.modelcontextprotocol/protocolVersion': revisions.stateless,
  'io.modelcontextprotocol/clientInfo': client,
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A request as text. In the stateless era it says who sends it. */
export function request(era, id, method, params) {
  const said = era === 'session' ? params : { ...params, _meta: sender }
  return JSON.stringify({ jsonrpc: '2.0', id, method, params: said })
}

/** The call of the tool that all suites measure. */
export function toolRequest(era, id) {
  return request(era, id, 'tools/call', { name, arguments: argumentsOf(id) })
}

/** What begins a conversation: texts that are answered, and those that are not. */
export function opening(era) {
  if (era === 'stateless') return { asks: request(era, 'open', 'server/discover', {}), tells: [] }
  const params = { protocolVersion: revisions.session, capabilities: {}, clientInfo: client }
  const tells = [JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })]
  return { asks: request(era, 'open', 'initialize', params), tells }
}
