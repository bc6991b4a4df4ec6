import { inputVariable, type References } from '../env.ts'
import type { ConfigNode, ObjectNode } from '../text.ts'
import { isObject, stringsOf, valueAt } from './nodes.ts'
import { dialects } from './table.ts'

/** An input that a user is asked for, as VS Code declares it. */
export interface ConfigInput {
  /** The id by which the file refers to it. */
  readonly id: string
  /** The environment variable that answers it. */
  readonly variable: string
  /** What to enter, for the user. */
  readonly description?: string
  /** Whether the answer is a secret, which is not shown while it is typed. */
  readonly password: boolean
  /** The answers to choose from. */
  readonly options?: readonly string[]
  /** The answer if the user gives none. */
  readonly default?: string
}

/** Returns the inputs that a file declares. */
export function declaredInputs(root: ObjectNode): readonly ConfigInput[] {
  return inputPaths.flatMap(path => {
    const list = valueAt(root, path)
    return list?.type === 'list' ? list.items.flatMap(inputOf) : []
  })
}

const inputPaths = [
  ...new Map(
    dialects.flatMap(({ inputs = [] }) => inputs).map(path => [path.join(), path]),
  ).values(),
]

function inputOf(node: ConfigNode): readonly ConfigInput[] {
  if (!isObject(node)) return []
  const text = (key: string): string | undefined => {
    const value = node.members.get(key)?.value
    return value?.type === 'string' ? value.value : undefined
  }
  const id = text('id')
  if (id === undefined) return []
  const password = node.members.get('password')?.value
  const options = stringsOf(node.members.get('options')?.value)
  const [description, preset] = [text('description'), text('default')]
  return [
    {
      id,
      variable: inputVariable(id),
      password: password?.type === 'boolean' && password.value,
      ...(description !== undefined && { description }),
      ...(options.length > 0 && { options }),
      ...(preset !== undefined && { default: preset }),
    },
  ]
}

/** Returns references in which the declared default of an input is its answer, unless it has another. */
export function withDefaults(references: References, root: ObjectNode): References {
  const inputs = new Map(references.inputs)
  for (const input of declaredInputs(root)) {
    if (input.default !== undefined && !inputs.has(input.id)) inputs.set(input.id, input.default)
  }
  return { ...references, inputs }
}
