// @ts-check
// Has charts and maps drawn by the service that the published server uses.

import * as z from 'zod'

const { VIS_REQUEST_SERVER = 'https://antv-studio.alipay.com/api/gpt-vis', SERVICE_ID } =
  process.env

/**
 * Resolves to the address of the image.
 *
 * @param {string} type
 * @param {object} options
 * @returns {Promise<string>}
 */
export function renderChart(type, options) {
  return request({ type, ...options })
}

/**
 * Resolves to the result of the tool.
 *
 * @param {string} tool
 * @param {object} input
 * @returns {Promise<{ content: { type: 'text', text: string }[] }>}
 */
export async function renderMap(tool, input) {
  const { metadata: _, ...result } = await request({ serviceId: SERVICE_ID, tool, input })
  return result
}

const answer = z.object({
  success: z.boolean(),
  errorMessage: z.string().optional(),
  resultObj: z.any().optional(),
})

/** @param {object} body */
async function request(body) {
  const response = await fetch(VIS_REQUEST_SERVER, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...body, source: 'mcp-server-chart' }),
  })
  if (!response.ok) throw failed(`Request failed with status code ${response.status}`)
  const { success, errorMessage, resultObj } = answer.parse(await response.json())
  if (!success) throw failed(errorMessage)
  return resultObj
}

/** @param {string | undefined} reason */
function failed(reason) {
  return new Error(`Failed to generate chart: ${reason}`)
}
