// @ts-check
// The server @antv/mcp-server-chart with Trunkline: 27 charts and maps, whose definitions the package exports.

import sdk from '@antv/mcp-server-chart/sdk'
import { Server, serve, text } from 'trunkline'
import * as z from 'zod'
import { renderChart, renderMap } from './render.js'

const { callTool: _, ...charts } = sdk
const disabled = (process.env.DISABLED_TOOLS ?? '').split(',')
const maps = new Set(['district-map', 'path-map', 'pin-map'])
const server = new Server({ name: 'mcp-server-chart', version: '0.8.x' })

for (const [type, { tool, schema }] of Object.entries(charts)) {
  const { name, description, inputSchema, annotations } = tool
  if (disabled.includes(name)) continue
  server.tool(name, { description, annotations, input: { ...inputSchema } }, async input => {
    // What JSON Schema cannot say, such as names that must differ.
    z.object(schema).parse(input)
    if (maps.has(type)) return renderMap(name, input)
    return {
      content: [text(await renderChart(type, input))],
      _meta: {
        description:
          "The content returned by MCP is the remote image URL of the visualization chart, which can be rendered using Markdown or HTML image tags. The _meta.spec content corresponds to the chart's configuration and spec, which can be rendered using AntV GPT-Vis chart components.",
        spec: { type, ...input },
      },
    }
  })
}

await serve(server)
