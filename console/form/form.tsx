import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { visible } from '../data/format.ts'
import {
  CheckField,
  ChoiceField,
  ChoicesField,
  JsonField,
  NumberField,
  TextField,
} from './inputs.tsx'
import {
  initialValue,
  resolved,
  type Schema,
  type Shape,
  shapeOf,
  skeleton,
  variantOf,
} from './schema.ts'

/** A problem of a value at a path. */
export interface FormIssue {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** What every part of a form gets. */
export interface PartProps {
  readonly schema: unknown
  readonly root: Schema
  readonly path: readonly (string | number)[]
  readonly value: unknown
  readonly isRequired: boolean
  readonly issues: readonly FormIssue[]
  /** Called with the new value; undefined removes it. */
  readonly onChange: (value: unknown) => void
}

/** A form for the members of an object. `prefix` makes the ids of its inputs unique on the page. */
export function Form({
  schema,
  value,
  issues = [],
  prefix,
  onChange,
}: {
  schema: Schema
  value: unknown
  issues?: readonly FormIssue[]
  prefix: string
  onChange: (value: unknown) => void
}) {
  const shape = shapeOf(schema, schema)
  const part = { schema, root: schema, path: [prefix], value, isRequired: true, issues, onChange }
  return (
    <div class="form">
      {shape.kind === 'object' ? (
        <Members {...part} shape={shape} />
      ) : (
        <Part {...part} name="value" />
      )}
      <Issues {...part} />
    </div>
  )
}

/** One value with its label. */
function Part({ name, ...part }: PartProps & { name: string }) {
  const { schema, root, value, isRequired, onChange } = part
  const shape = shapeOf(schema, root)
  const { title, description, deprecated } = resolved(schema, root)
  // A constant needs no person.
  if (shape.kind === 'const' && isRequired) return null
  const id = idOf(part)
  const text = (
    <>
      {visible(typeof title === 'string' ? title : name)}
      {isRequired && (
        <span class="needed" title="required">
          {' *'}
        </span>
      )}
      {deprecated === true && <span class="chip">deprecated</span>}
    </>
  )
  const help = typeof description === 'string' && (
    <p class="help-text" id={`${id}-help`}>
      {visible(description)}
    </p>
  )
  if (isNested(shape)) {
    return (
      <fieldset class="nested">
        <legend>{text}</legend>
        {help}
        {value === undefined ? (
          <button
            type="button"
            onClick={() => onChange(initialValue(schema, root) ?? skeleton(schema, root))}
          >
            Add {visible(name)}
          </button>
        ) : (
          <>
            <Control {...part} shape={shape} />
            {!isRequired && (
              <button type="button" class="quiet" onClick={() => onChange(undefined)}>
                Remove {visible(name)}
              </button>
            )}
          </>
        )}
        <Issues {...part} />
      </fieldset>
    )
  }
  return (
    <div class="field">
      <label for={id}>{text}</label>
      <div>
        <Control {...part} shape={shape} />
        {help}
        <Issues {...part} />
      </div>
    </div>
  )
}

function isNested({ kind }: Shape): boolean {
  return kind === 'object' || kind === 'list' || kind === 'union' || kind === 'choices'
}

function Control({ shape, ...part }: PartProps & { shape: Shape }): JSX.Element {
  const { value, isRequired, onChange } = part
  const id = idOf(part)
  const schema = resolved(part.schema, part.root)
  const input = { id, value, schema, isRequired, onChange, hasIssue: issuesAt(part).length > 0 }
  switch (shape.kind) {
    case 'const':
      return (
        <input
          id={id}
          type="checkbox"
          checked={value !== undefined}
          onChange={event => onChange(event.currentTarget.checked ? shape.value : undefined)}
        />
      )
    case 'text':
      return <TextField {...input} />
    case 'number':
    case 'integer':
      return <NumberField {...input} isInteger={shape.kind === 'integer'} />
    case 'boolean':
      if (isRequired) return <CheckField {...input} />
      return <ChoiceField {...input} options={yesAndNo} />
    case 'null':
      return <span class="mono">null</span>
    case 'choice':
      return <ChoiceField {...input} options={shape.options} />
    case 'choices':
      return <ChoicesField {...input} options={shape.options} />
    case 'union':
      return <Union {...part} shape={shape} />
    case 'list':
      return <List {...part} shape={shape} />
    case 'object':
      return <Members {...part} shape={shape} />
    case 'json':
      return <JsonField {...input} start={skeleton(part.schema, part.root)} />
  }
}

const yesAndNo = [
  { value: true, label: 'true' },
  { value: false, label: 'false' },
]

function Members({ shape, ...part }: PartProps & { shape: Extract<Shape, { kind: 'object' }> }) {
  const { root, path, value, issues, onChange } = part
  const members = isObject(value) ? value : {}
  const set = (name: string, its: unknown): void => {
    const { [name]: _, ...others } = members
    // A member keeps its place.
    if (its === undefined) onChange(others)
    else onChange(name in members ? { ...members, [name]: its } : { ...others, [name]: its })
  }
  const known = new Set(shape.members.map(({ name }) => name))
  return (
    <>
      {shape.members.map(({ name, schema, isRequired }) => (
        <Part
          key={name}
          name={name}
          schema={schema}
          root={root}
          path={[...path, name]}
          value={members[name]}
          isRequired={isRequired}
          issues={issues}
          onChange={its => set(name, its)}
        />
      ))}
      {shape.others !== undefined && (
        <Others {...part} others={shape.others} known={known} members={members} set={set} />
      )}
    </>
  )
}

/** Members whose names the person chooses. */
function Others({
  root,
  path,
  issues,
  others,
  known,
  members,
  set,
}: PartProps & {
  others: Schema
  known: ReadonlySet<string>
  members: Readonly<Record<string, unknown>>
  set: (name: string, value: unknown) => void
}) {
  const [name, setName] = useState('')
  const isFree = name !== '' && !(name in members) && !known.has(name)
  const id = [...path, 'new name'].join('.')
  return (
    <>
      {Object.entries(members)
        .filter(([each]) => !known.has(each))
        .map(([each, value]) => (
          <div key={each} class="row">
            <Part
              name={each}
              schema={others}
              root={root}
              path={[...path, each]}
              value={value}
              isRequired={true}
              issues={issues}
              onChange={its => set(each, its)}
            />
            <button type="button" class="quiet" onClick={() => set(each, undefined)}>
              Remove {visible(each)}
            </button>
          </div>
        ))}
      <div class="row">
        <input
          id={id}
          type="text"
          aria-label="Name of a new member"
          placeholder="name of a new member"
          value={name}
          onInput={event => setName(event.currentTarget.value)}
        />
        <button
          type="button"
          disabled={!isFree}
          onClick={() => {
            set(name, initialValue(others, root) ?? '')
            setName('')
          }}
        >
          Add
        </button>
      </div>
    </>
  )
}

function List({ shape, ...part }: PartProps & { shape: Extract<Shape, { kind: 'list' }> }) {
  const { root, path, value, issues, onChange } = part
  const entries: readonly unknown[] = Array.isArray(value) ? value : []
  return (
    <>
      {entries.map((entry, at) => (
        <div key={at} class="row">
          <Part
            name={`entry ${at + 1}`}
            schema={shape.items}
            root={root}
            path={[...path, at]}
            value={entry}
            isRequired={true}
            issues={issues}
            onChange={its => onChange(entries.with(at, its ?? null))}
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove entry ${at + 1}`}
            onClick={() => onChange(entries.toSpliced(at, 1))}
          >
            Remove
          </button>
        </div>
      ))}
      <button
        type="button"
        onClick={() =>
          onChange([...entries, initialValue(shape.items, root) ?? emptyOf(shape, root)])
        }
      >
        Add an entry
      </button>
    </>
  )
}

/** Returns what a new entry of a list is until the person fills it in. */
function emptyOf({ items }: { readonly items: Schema }, root: Schema): unknown {
  const { kind } = shapeOf(items, root)
  return kind === 'number' || kind === 'integer' ? 0 : kind === 'json' ? null : ''
}

function Union({ shape, ...part }: PartProps & { shape: Extract<Shape, { kind: 'union' }> }) {
  const { root, value, onChange } = part
  const found = variantOf(value, shape.variants, root)
  const [chosen, setChosen] = useState(Math.max(0, found))
  const [current = shape.variants[0]] = [shape.variants[chosen]]
  const id = idOf(part)
  if (current === undefined) return <span />
  const inner = shapeOf(current.schema, root)
  return (
    <>
      <select
        id={`${id}-variant`}
        aria-label="Kind"
        value={chosen}
        onChange={event => {
          const at = Number(event.currentTarget.value)
          setChosen(at)
          const schema = shape.variants[at]?.schema
          onChange(initialValue(schema, root) ?? skeleton(schema, root))
        }}
      >
        {shape.variants.map(({ name }, at) => (
          <option key={name} value={at}>
            {visible(name)}
          </option>
        ))}
      </select>
      {isNested(inner) ? (
        <Control {...part} schema={current.schema} shape={inner} />
      ) : (
        <Part {...part} key={current.name} name={current.name} schema={current.schema} isRequired />
      )}
    </>
  )
}

function Issues(part: Pick<PartProps, 'path' | 'issues'>) {
  const own = issuesAt(part)
  if (own.length === 0) return null
  return (
    <ul class="issues">
      {own.map(({ message }) => (
        <li key={message}>{visible(message)}</li>
      ))}
    </ul>
  )
}

function issuesAt({ path, issues }: Pick<PartProps, 'path' | 'issues'>): readonly FormIssue[] {
  // The first step is the prefix of the form.
  const own = JSON.stringify(path.slice(1))
  return issues.filter(issue => JSON.stringify(issue.path) === own)
}

function idOf({ path }: Pick<PartProps, 'path'>): string {
  return path.join('.')
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
