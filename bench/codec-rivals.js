import * as core from '@modelcontextprotocol/core'
import * as sdk from '@modelcontextprotocol/sdk/shared/stdio.js'
import jayson from 'jayson'
import { isJSONRPCRequest, isJSONRPCResponse } from 'json-rpc-2.0'
import vscode from 'vscode-jsonrpc/node'

/**
 * Decoders of other packages, each made of the functions that the package exports.
 * `takes` lists which messages it accepts; `checks` says what it validates.
 */
export const decoders = [
  {
    name: 'SDK 1.32',
    checks: 'envelope by schema (zod)',
    takes: { batch: false },
    op: sdk.deserializeMessage,
  },
  {
    name: 'SDK core 2.4',
    checks: 'envelope by schema (zod)',
    takes: { batch: false },
    op: text => core.JSONRPCMessageSchema.parse(JSON.parse(text)),
  },
  { name: 'jayson 5', checks: 'envelope by hand', takes: { batch: true }, op: jaysonDecode },
  {
    name: 'json-rpc-2.0',
    checks: 'version, presence of method or result',
    takes: { batch: true },
    op: text => {
      const value = JSON.parse(text)
      const valid = Array.isArray(value)
        ? value.every(isJSONRPCRequest)
        : isJSONRPCRequest(value) || isJSONRPCResponse(value)
      if (!valid) throw new Error('invalid')
      return value
    },
  },
]

const { encoder, decoder } = vscode.RAL().applicationJson
const charset = { charset: 'utf-8' }
const { Message } = vscode

/** Decoders of other packages that read bytes. */
export const byteDecoders = [
  {
    name: 'vscode-jsonrpc',
    checks: 'types of id and method; malformed UTF-8 passes',
    takes: { batch: false },
    async: true,
    op: async bytes => {
      const value = await decoder.decode(bytes, charset)
      if (!Message.isRequest(value) && !Message.isNotification(value) && !Message.isResponse(value))
        throw new Error('invalid')
      return value
    },
  },
]

/** Encoders of other packages. */
export const encoders = [
  { name: 'SDK 1.32', takes: { batch: true }, op: sdk.serializeMessage },
  { name: 'jayson 5', takes: { batch: true }, op: jaysonEncode },
]

export const byteEncoders = [
  {
    name: 'vscode-jsonrpc',
    takes: { batch: false },
    async: true,
    op: message => encoder.encode(message, charset),
  },
]

const { Request, Response, JSON: jaysonJson } = jayson.Utils
const options = {}

function jaysonDecode(text) {
  let value
  jaysonJson.parse(text, options, (error, parsed) => {
    if (error) throw error
    value = parsed
  })
  const valid = Request.isBatch(value)
    ? value.every(item => Request.isValidRequest(item))
    : Request.isValidRequest(value) || Response.isValidResponse(value)
  if (!valid) throw new Error('invalid')
  return value
}

function jaysonEncode(message) {
  let text = ''
  jaysonJson.stringify(message, options, (error, written) => {
    if (error) throw error
    text = written
  })
  return text
}
