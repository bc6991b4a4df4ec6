import type { Tool } from '../../mcp/types/tools.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { wordsIn } from './words.ts'

/** The words of a tool, each with its weight. */
interface Indexed {
  readonly tool: Tool
  readonly weights: ReadonlyMap<string, number>
}

/** A tool that was found. */
export interface FoundTool {
  readonly tool: Tool
  /** How much of the query the tool has, from 0 to 1: rare words count more. */
  readonly fit: number
}

/**
 * Finds tools by words: of their names, titles, descriptions and arguments. A rare word counts more than
 * a frequent one, and a word of the name more than one of the description. Repeating a word has no effect,
 * so a description cannot push its tool ahead.
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

  /**
   * Returns the tools that match best, the best first. Tools without any of the words are left out. Only the
   * beginning of a long query counts.
   */
  find(query: string, limit: number): readonly FoundTool[] {
    const text = query.slice(0, limits.toolSearchQuery.default)
    const rarities = new Map(wordsIn(text).map(word => [word, this.#rarity(word)]))
    const best = Array.from(rarities.values()).reduce((sum, rarity) => sum + rarity, 0) * nameWeight
    return this.#tools
      .map(({ tool, weights }) => ({ tool, score: scoreOf(rarities, weights) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)
      .map(({ tool, score }) => ({ tool, fit: score / best }))
  }

  #rarity(word: string): number {
    const known = this.#frequency.get(word) ?? 0
    return Math.log(1 + this.#tools.length / (1 + known))
  }
}

/** The weight of a word in each part of a tool. */
const nameWeight = 4
const titleWeight = 3
const firstWeight = 3
const descriptionWeight = 1
const argumentWeight = 1

function scoreOf(
  rarities: ReadonlyMap<string, number>,
  weights: ReadonlyMap<string, number>,
): number {
  let score = 0
  for (const [word, rarity] of rarities) {
    score += rarity * (weights.get(word) ?? partial(word, weights))
  }
  return score
}

/** Half of the weight of a word that begins with the given one: "repo" finds "repository". */
function partial(word: string, weights: ReadonlyMap<string, number>): number {
  if (word.length < 3) return 0
  for (const [other, weight] of weights) if (other.startsWith(word)) return weight / 2
  return 0
}

function weightsOf({
  name,
  title,
  description = '',
  inputSchema,
}: Tool): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  const add = (text: string, weight: number): void => {
    for (const word of wordsIn(text)) weights.set(word, Math.max(weights.get(word) ?? 0, weight))
  }
  add(name, nameWeight)
  add(title ?? '', titleWeight)
  // The first sentence says what a tool does; the others say when not to use it.
  add(/^[^.\n]*/.exec(description)?.[0] ?? '', firstWeight)
  add(description.slice(0, limits.toolSearchDescription.default), descriptionWeight)
  const { properties } = inputSchema
  if (isRecord(properties))
    for (const argument of Object.keys(properties)) add(argument, argumentWeight)
  return weights
}
