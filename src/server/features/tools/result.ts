import { invalidParams, RpcError } from '../../../jsonrpc/error.ts'
import {
  errorResult,
  structuredResult,
  toolOutput,
  toolResult,
} from '../../../mcp/content/content.ts'
import { contentFault, listFault } from '../../../mcp/content/content-check.ts'
import { errors } from '../../../mcp/errors/constructors.ts'
import { callResultFor } from '../../../mcp/revisions/shape.ts'
import { issueText } from '../../../mcp/schema/issues.ts'
import type { Compiled } from '../../../mcp/schema/schema.ts'
import type { CallToolResult } from '../../../mcp/types/tools.ts'
import { errorMessage } from '../../../util/text/error-message.ts'
import { isInputRequired } from '../../input/input-required.ts'
import { type IncomingRequest, whenReady } from '../../request.ts'
import type { FeatureHost } from '../registry.ts'
import type { RegisteredTool } from './definition.ts'

type Report = FeatureHost['onError']

/**
 * Makes the result of a call of what its handler returned. Throws "Internal error" for what cannot be sent,
 * and reports it to the author.
 */
export function resultOf(
  entry: RegisteredTool,
  request: IncomingRequest,
  value: unknown,
  report: Report,
): unknown {
  if (isInputRequired(value)) return value
  if (entry.output !== undefined) return structured(entry, entry.output, request, value, report)
  let result: CallToolResult
  try {
    result = toolResult(value)
  } catch (error) {
    throw invalid(entry, request, 'result', errorMessage(error), report)
  }
  return encode(entry, request, result, report)
}

/**
 * Makes the result of a tool with an output schema. What the schema returns is sent: without members that
 * it strips, with its defaults, transformed.
 */
function structured(
  entry: RegisteredTool,
  schema: Compiled<unknown>,
  request: IncomingRequest,
  value: unknown,
  report: Report,
): unknown {
  const output = toolOutput(value)
  const { result: given } = output
  if (given?.isError) {
    return encode(entry, request, { ...given, content: given.content ?? [] }, report)
  }
  return whenReady(schema.check(output.structured), outcome => {
    if (!outcome.ok) throw invalid(entry, request, 'output', issueText(outcome.issues), report)
    // The check: the type of the value is that of the schema, which `text` was typed by.
    const textOf = entry.definition.text as ((structured: unknown) => unknown) | undefined
    let result: CallToolResult
    try {
      result = structuredResult(output, outcome.value, textOf)
    } catch (error) {
      throw invalid(entry, request, 'result', errorMessage(error), report)
    }
    return encode(entry, request, result, report)
  })
}

/** Checks the content of a result, and encodes it for the caller's revision. */
function encode(
  entry: RegisteredTool,
  request: IncomingRequest,
  result: CallToolResult,
  report: Report,
): CallToolResult {
  const fault = listFault('content', result.content, contentFault)
  if (fault !== undefined) throw invalid(entry, request, 'result', fault, report)
  return callResultFor(request.caller.revision, result)
}

/** Reports a mistake of the handler, which the caller need not know. */
function invalid(
  entry: RegisteredTool,
  request: IncomingRequest,
  what: string,
  details: string,
  report: Report,
): RpcError {
  const error = new Error(`invalid ${what} of tool "${entry.name}": ${details}`)
  // The handler has returned, so every frame is ours: they would only hide the message.
  error.stack = `Error: ${error.message}`
  report(error, request)
  return errors.internalError()
}

/** Returns the result for arguments that do not fit, or throws the error, as the revision of the caller has it. */
export function badArguments(
  entry: RegisteredTool,
  request: IncomingRequest,
  details: string,
): CallToolResult {
  if (request.caller.revision.features.inputErrors === 'result') {
    return errorResult(new Error(`Invalid arguments for tool "${entry.name}": ${details}`))
  }
  throw invalidParams(`Invalid arguments for tool "${entry.name}": ${details}`, {
    kind: 'invalid_tool_arguments',
    data: { tool: entry.name, details },
  })
}

/** The result of a tool that threw. Protocol errors, and the end of a run at an input request, are thrown on. */
export function failed(error: unknown, awaitsInput: boolean): CallToolResult {
  if (awaitsInput || error instanceof RpcError) throw error
  return errorResult(error)
}
