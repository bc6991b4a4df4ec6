import type { Ajv, CodeKeywordDefinition, KeywordCxt, Name, Options } from 'ajv'
import type { Dialect } from '../json-schema.ts'

export type { Ajv, CodeKeywordDefinition, KeywordCxt, Name, Options }

/** The package `ajv`: its validators by dialect, and what generates their code. */
export interface AjvPackage {
  /** Creates a validator. */
  make(dialect: Dialect, options: Options): Ajv
  /** A template for code. */
  readonly code: typeof import('ajv')._
  /** Refers to a variable of the generated code. */
  name(text: string): Name
}

/** Loads the package. */
export async function loadAjv(): Promise<AjvPackage> {
  const [{ Ajv2020 }, { Ajv, Name, _: code }] = await Promise.all([
    import('ajv/dist/2020.js'),
    import('ajv'),
  ])
  return {
    make: (dialect, options) => (dialect === '2020-12' ? new Ajv2020(options) : new Ajv(options)),
    code,
    name: text => new Name(text),
  }
}
