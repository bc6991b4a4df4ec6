import { visible } from '../data/format.ts'

/** A JSON value that can be folded. Text is only ever shown as text. */
export function JsonTree({
  value,
  name,
  depth = 0,
}: {
  value: unknown
  name?: string
  depth?: number
}) {
  if (depth === 0) {
    return (
      <div class="tree">
        <Node value={value} name={name} depth={0} />
      </div>
    )
  }
  return <Node value={value} name={name} depth={depth} />
}

function Node({ value, name, depth }: { value: unknown; name: string | undefined; depth: number }) {
  const label = name === undefined ? null : <span class="key">{visible(name)}: </span>
  if (typeof value !== 'object' || value === null) {
    const kind = typeof value === 'string' ? 'text' : 'other'
    const text = typeof value === 'string' ? visible(value) : String(value)
    return (
      <div>
        {label}
        <span class={kind}>{text}</span>
      </div>
    )
  }
  const entries = Array.isArray(value)
    ? value.map((item, at) => [String(at), item] as const)
    : Object.entries(value)
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`
  return (
    <details open={depth < 3}>
      <summary>
        {label}
        <span class="muted">{size}</span>
      </summary>
      <ul>
        {entries.map(([key, item]) => (
          <li key={key}>
            <Node value={item} name={key} depth={depth + 1} />
          </li>
        ))}
      </ul>
    </details>
  )
}
