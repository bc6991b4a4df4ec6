// @ts-check
// The knowledge graph of the memory server: entities and relations in a file with one JSON object per line.

import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'

/**
 * @typedef {{ name: string, entityType: string, observations: string[] }} Entity
 * @typedef {{ from: string, to: string, relationType: string }} Relation
 * @typedef {{ entities: Entity[], relations: Relation[] }} Graph
 */

export class KnowledgeGraph {
  #file = resolve(import.meta.dirname, process.env.MEMORY_FILE_PATH || 'memory.jsonl')
  #onChange

  /** @param {() => void} onChange called whenever the file was written */
  constructor(onChange) {
    this.#onChange = onChange
  }

  /** @returns {Promise<Graph>} */
  async read() {
    /** @type {Graph} */
    const graph = { entities: [], relations: [] }
    for (const line of (await this.#text()).split('\n').filter(text => text.trim() !== '')) {
      const { type, ...item } = JSON.parse(line)
      if (type === 'entity') graph.entities.push(item)
      if (type === 'relation') graph.relations.push(item)
    }
    return graph
  }

  /** @param {Entity[]} entities */
  async createEntities(entities) {
    const graph = await this.read()
    const added = entities.filter(({ name }) => !graph.entities.some(known => known.name === name))
    graph.entities.push(...added)
    await this.#write(graph)
    return added
  }

  /** @param {Relation[]} relations */
  async createRelations(relations) {
    const graph = await this.read()
    const added = relations.filter(relation => !graph.relations.some(isSame(relation)))
    graph.relations.push(...added)
    await this.#write(graph)
    return added
  }

  /** @param {{ entityName: string, contents: string[] }[]} additions */
  async addObservations(additions) {
    const graph = await this.read()
    const results = additions.map(({ entityName, contents }) => {
      const entity = graph.entities.find(({ name }) => name === entityName)
      if (entity === undefined) throw new Error(`Entity with name ${entityName} not found`)
      const addedObservations = contents.filter(text => !entity.observations.includes(text))
      entity.observations.push(...addedObservations)
      return { entityName, addedObservations }
    })
    await this.#write(graph)
    return results
  }

  /** @param {string[]} names */
  async deleteEntities(names) {
    const { entities, relations } = await this.read()
    await this.#write({
      entities: entities.filter(({ name }) => !names.includes(name)),
      relations: relations.filter(({ from, to }) => !names.includes(from) && !names.includes(to)),
    })
  }

  /** @param {{ entityName: string, observations: string[] }[]} deletions */
  async deleteObservations(deletions) {
    const graph = await this.read()
    for (const { entityName, observations } of deletions) {
      const entity = graph.entities.find(({ name }) => name === entityName)
      if (entity === undefined) continue
      entity.observations = entity.observations.filter(text => !observations.includes(text))
    }
    await this.#write(graph)
  }

  /** @param {Relation[]} relations */
  async deleteRelations(relations) {
    const graph = await this.read()
    await this.#write({
      ...graph,
      relations: graph.relations.filter(known => !relations.some(isSame(known))),
    })
  }

  /** @param {string} query */
  search(query) {
    const isHit = (/** @type {string} */ text) => text.toLowerCase().includes(query.toLowerCase())
    return this.#part(({ name, entityType, observations }) =>
      [name, entityType, ...observations].some(isHit),
    )
  }

  /** @param {string[]} names */
  open(names) {
    return this.#part(({ name }) => names.includes(name))
  }

  /** @param {(entity: Entity) => boolean} isWanted */
  async #part(isWanted) {
    const graph = await this.read()
    const entities = graph.entities.filter(isWanted)
    const names = new Set(entities.map(({ name }) => name))
    const relations = graph.relations.filter(({ from, to }) => names.has(from) || names.has(to))
    return { entities, relations }
  }

  async #text() {
    try {
      return await readFile(this.#file, 'utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
      throw error
    }
  }

  /** @param {Graph} graph */
  async #write({ entities, relations }) {
    const lines = [
      ...entities.map(entity => JSON.stringify({ type: 'entity', ...entity })),
      ...relations.map(relation => JSON.stringify({ type: 'relation', ...relation })),
    ]
    // A rename replaces the file in one step: readers never see half of it.
    const next = `${this.#file}.${randomUUID()}.tmp`
    try {
      await writeFile(next, lines.join('\n'))
      await rename(next, this.#file)
    } finally {
      await rm(next, { force: true })
    }
    this.#onChange()
  }
}

/** @param {Relation} one */
function isSame(one) {
  return (/** @type {Relation} */ { from, to, relationType }) =>
    one.from === from && one.to === to && one.relationType === relationType
}
