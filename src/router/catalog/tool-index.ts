import type { Tool } from '../../mcp/types/tools.ts'
import { isRecord } from '../../util/objects.ts'

/** The words of a tool, each with its weight. */
interface Indexed {
  readonly tool: Tool
  readonly weights: ReadonlyMap<string, number>
}

/**
 * Finds tools by words: of their names, titles, descriptions and arguments. A rare word counts more than
 * a frequent one, and a word of the name more than one of the description.
 */
export class ToolIndex {
  readonly #tools: readonly Indexed[]
  /** In how many tools each word occurs. */
  readonly #frequency = new Map<string, number>()

  constructor(tools: readonly Tool[]) {
    this.#tools = tools.map(tool => ({ tool, weights: weightsOf(tool) }))
    for (const { weights } of this.#tools) {
      for (const word of weights.keys()) {
        this.#frequency.set(word, (this.#frequency.get(word) ?? 0) + 1)
      }
    }
  }

  /** Returns the tools that match best, the best first. Tools without any of the words are left out. */
  find(query: string, limit: number): readonly Tool[] {
    const words = new Set(wordsIn(query))
    return this.#tools
      .map(({ tool, weights }) => ({ tool, score: this.#score(words, weights) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)
      .map(({ tool }) => tool)
  }

  #score(words: ReadonlySet<string>, weights: ReadonlyMap<string, number>): number {
    let score = 0
    for (const word of words) {
      const weight = weights.get(word) ?? partial(word, weights)
      const known = this.#frequency.get(word) ?? 0
      score += weight * Math.log(1 + this.#tools.length / (1 + known))
    }
    return score
  }
}

/** Half of the weight of a word that begins with the given one: "repo" finds "repository". */
function partial(word: string, weights: ReadonlyMap<string, number>): number {
  if (word.length < 3) return 0
  for (const [other, weight] of weights) if (other.startsWith(word)) return weight / 2
  return 0
}

function weightsOf({ name, title, description, inputSchema }: Tool): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  const add = (text: string | undefined, weight: number): void => {
    for (const word of wordsIn(text ?? '')) {
      weights.set(word, Math.max(weights.get(word) ?? 0, weight))
    }
  }
  add(name, 4)
  add(title, 3)
  add(description, 2)
  const { properties } = inputSchema
  if (isRecord(properties)) for (const argument of Object.keys(properties)) add(argument, 1)
  return weights
}

/** Splits at everything but letters and digits, and inside of camelCase. */
function wordsIn(text: string): readonly string[] {
  const split = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase()
  return split.match(/[\p{L}\p{N}]+/gu) ?? []
}
