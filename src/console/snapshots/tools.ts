import type { MetricRegistry } from '../../observe/metrics/registry.ts'
import type { Router } from '../../router/router.ts'
import type { ExposedDefinition } from '../../router/status.ts'
import { limits } from '../../util/limits/limits.ts'
import { quantile } from '../feed/quantile.ts'
import { ApiError } from '../http/api.ts'
import type { PinRow, ToolDetails, ToolFigure, ToolRow, ToolsAnswer } from '../wire.ts'

/** Returns every tool, prompt and resource: those that callers see, and the others with the reason. */
export function toolsAnswer(router: Router, registry: MetricRegistry | undefined): ToolsAnswer {
  const pins = pinRows(router)
  const figures = figuresByTool(registry)
  const shown = router.toolDefinitions().map(tool => shownRow(tool, pins, figures))
  const hidden = router.hidden().map(({ server, what, name, why }): ToolRow => {
    const isChanged = what === 'tool' && isPending(pins, server, name)
    return { what, server, own: name, why, ...(isChanged && { isChanged }) }
  })
  return { rows: [...shown, ...hidden], pins }
}

/** Returns one tool by the name that callers see. Throws an ApiError 404 if there is none. */
export function toolDetails(
  router: Router,
  registry: MetricRegistry | undefined,
  name: string,
): ToolDetails {
  const tool = router.toolDefinitions().find(each => each.name === name)
  if (tool === undefined) throw new ApiError(404, 'not_found', `callers see no tool "${name}"`)
  const row = shownRow(tool, pinRows(router), figuresByTool(registry))
  return { row, definition: tool.definition }
}

/** Returns the tools whose definition differs from the pinned one. */
export function pinRows(router: Router): readonly PinRow[] {
  const changes = router.pins.changes()
  if (changes.length === 0) return []
  const names = router.toolDefinitions()
  return changes.map(({ server, tool, diff, invisible, seen }) => ({
    server,
    tool,
    summary: diff,
    differences: router.pins
      .differences(server, tool)
      .map(line => line.slice(0, limits.consoleTextLength.default)),
    invisible,
    digest: seen,
    isBlocked: !names.some(each => each.server === server && each.upstreamName === tool),
  }))
}

/** Returns the tools with the longest durations. */
export function slowestTools(registry: MetricRegistry | undefined): readonly ToolFigure[] {
  return [...figuresByTool(registry).values()]
    .sort((a, b) => (b.p99 ?? 0) - (a.p99 ?? 0))
    .slice(0, slowestCount)
}

const slowestCount = 8

function shownRow(
  { name, server, upstreamName, definition, naming, isTrusted }: ExposedDefinition,
  pins: readonly PinRow[],
  figures: ReadonlyMap<string, ToolFigure>,
): ToolRow {
  const { title, description, annotations } = definition
  const why = namingText[naming]
  const figure = figures.get(keyOf(server, name))
  return {
    what: 'tool',
    server,
    own: upstreamName,
    shown: name,
    ...(why !== undefined && { why }),
    ...(title !== undefined && { title }),
    ...(description !== undefined && {
      description: description.slice(0, limits.consoleTextLength.default),
    }),
    bytes: Buffer.byteLength(JSON.stringify(definition)),
    ...(annotations !== undefined && { annotations: { ...annotations } }),
    isTrusted,
    ...(isPending(pins, server, upstreamName) && { isChanged: true }),
    ...(figure !== undefined && {
      calls: figure.calls,
      failed: figure.failed,
      p50: figure.p50,
      p99: figure.p99,
    }),
  }
}

/** Says why callers see a tool under its name; undefined for its own name. */
const namingText: Readonly<Record<ExposedDefinition['naming'], string | undefined>> = {
  own: undefined,
  prefixed: 'prefixed with the name of its server',
  renamed: 'renamed by tools.rename',
  shortened: 'shortened: hosts accept 64 letters, digits, "_", "-" and "."',
}

function isPending(pins: readonly PinRow[], server: string, tool: string): boolean {
  return pins.some(pin => pin.server === server && pin.tool === tool)
}

function figuresByTool(registry: MetricRegistry | undefined): ReadonlyMap<string, ToolFigure> {
  if (registry === undefined) return new Map()
  const errors = new Map(
    registry
      .read('trunkline_tool_errors_total')
      .map(({ labels: [server = '', tool = ''], value }) => [keyOf(server, tool), value]),
  )
  const rows = registry.read('trunkline_tool_call_duration_seconds')
  return new Map(
    rows.map(({ labels: [server = '', name = ''], value, counts = [], bounds = [] }) => {
      const key = keyOf(server, name)
      const failed = errors.get(key) ?? 0
      const p50 = quantile(bounds, counts, 0.5)
      const p99 = quantile(bounds, counts, 0.99)
      return [key, { server, name, calls: value, failed, p50, p99 }]
    }),
  )
}

function keyOf(server: string, tool: string): string {
  return JSON.stringify([server, tool])
}
