import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, test } from 'vitest'
import { root } from '../sources.ts'
import { call, compare, expectKnown, request, type Step } from './compare.ts'
import { knownFor } from './known.ts'

/** Stands for the service that draws the charts. */
let service: Server

beforeAll(async () => {
  service = createServer(async (incoming, response) => {
    const { type, tool, title, input } = JSON.parse(await text(incoming))
    const map = { content: [{ type: 'text', text: `${tool} ${input?.title}` }], metadata: {} }
    const drawn = { success: true, resultObj: tool ? map : `https://charts.example/${type}` }
    const failed = { success: false, errorMessage: 'No ink' }
    response.statusCode = title === 'busy' ? 503 : 200
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(title === 'empty' ? failed : drawn))
  })
  await new Promise<void>(resolve => service.listen(0, '127.0.0.1', resolve))
})

afterAll(() => {
  service.closeAllConnections()
  service.close()
})

const values = { data: [{ category: 'a', value: 1 }] }
const times = { data: [{ time: '2025', value: 1 }] }
const tree = { data: { name: 'a', children: [{ name: 'b' }] } }
const graph = {
  data: { nodes: [{ name: 'a' }, { name: 'b' }], edges: [{ source: 'a', target: 'b' }] },
}

const charts: readonly Step[] = [
  call('generate_area_chart', times),
  call('generate_bar_chart', values),
  call('generate_boxplot_chart', values),
  call('generate_column_chart', values),
  call('generate_district_map', { title: 'x', data: { name: 'x' } }),
  call('generate_dual_axes_chart', { categories: ['a'], series: [{ type: 'line', data: [1] }] }),
  call('generate_fishbone_diagram', tree),
  call('generate_flow_diagram', graph),
  call('generate_funnel_chart', values),
  call('generate_histogram_chart', { data: [1, 2] }),
  call('generate_line_chart', times),
  call('generate_liquid_chart', { percent: 0.5 }),
  call('generate_mind_map', tree),
  call('generate_network_graph', graph),
  call('generate_organization_chart', tree),
  call('generate_path_map', { title: 'x', data: [{ data: ['a'] }] }),
  call('generate_pie_chart', values),
  call('generate_pin_map', { title: 'x', data: ['a'] }),
  call('generate_radar_chart', { data: [{ name: 'a', value: 1 }] }),
  call('generate_sankey_chart', { data: [{ source: 'a', target: 'b', value: 1 }] }),
  call('generate_scatter_chart', { data: [{ x: 1, y: 2 }] }),
  call('generate_treemap_chart', { data: [{ name: 'a', value: 1 }] }),
  call('generate_venn_chart', { data: [{ sets: ['a'], value: 1 }] }),
  call('generate_violin_chart', values),
  call('generate_waterfall_chart', values),
  call('generate_word_cloud_chart', { data: [{ text: 'a', value: 1 }] }),
  call('generate_spreadsheet', { data: [{ a: 1, b: null }] }),
]

const everySetting = {
  ...values,
  style: { backgroundColor: '#fff', palette: ['#000'], texture: 'rough' },
  theme: 'dark',
  width: 1,
  height: 1,
  title: 't',
  axisXTitle: 'x',
  axisYTitle: 'y',
  group: true,
  stack: false,
}

const steps: readonly Step[] = [
  request('tools/list', 'tools/list'),
  ...charts,
  call('generate_bar_chart', everySetting, 'with every setting'),
  call('generate_bar_chart', { ...everySetting, title: 'empty' }, 'that fails'),
  call('generate_bar_chart', { ...everySetting, title: 'busy' }, 'that is refused'),
  call('generate_bar_chart', { data: [] }),
  call('generate_bar_chart', {}),
  call('generate_mind_map', { data: { name: 'a', children: [{ name: 'a' }] } }),
  call('generate_waterfall_chart', { data: [{ category: 'a' }] }),
  call('generate_nothing', {}),
]

test('the chart server and its port', async () => {
  const { port: at } = service.address() as AddressInfo
  const env = { VIS_REQUEST_SERVER: `http://127.0.0.1:${at}/` }
  const start = (program: string, more = {}) => ({
    args: [join(root, program)],
    env: { ...env, ...more },
  })
  const original = 'third-party/node_modules/@antv/mcp-server-chart/build/index.js'
  const port = 'examples/ports/chart/server.js'
  expectKnown(await compare(start(original), start(port), steps), knownFor('chart'))
})
