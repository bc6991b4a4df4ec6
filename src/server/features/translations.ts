import {
  acceptedLanguages,
  checkText,
  type LocalizedText,
  localize,
} from '../../mcp/content/localized.ts'
import type { IncomingRequest } from '../request.ts'
import { headersOf } from '../request-context.ts'

/** The texts of a definition, which may be translated. */
export interface DefinedTexts {
  readonly title?: LocalizedText | undefined
  readonly description?: LocalizedText | undefined
}

/** The texts of an entry as lists show them. */
export interface ListedTexts {
  readonly title: string | undefined
  readonly description: string | undefined
}

/** Returns the texts of a definition in their default language. Throws a TypeError for invalid ones. */
export function defaultTexts(what: string, { title, description }: DefinedTexts): ListedTexts {
  checkText(`${what}: "title"`, title)
  checkText(`${what}: "description"`, description)
  return { title: localize(title), description: localize(description) }
}

/** Whether a definition has translations. */
export function isTranslated(definition: object): boolean {
  const { title, description }: DefinedTexts = definition
  return typeof title === 'object' || typeof description === 'object'
}

/** Returns a function that translates listed entries for the caller of a request. */
export function translator(request: IncomingRequest): <T>(listed: T, texts: DefinedTexts) => T {
  const languages = acceptedLanguages(headersOf(request)['accept-language'])
  return (listed, texts) => {
    if (!isTranslated(texts)) return listed
    const { title, description } = texts
    return {
      ...listed,
      title: localize(title, languages),
      description: localize(description, languages),
    }
  }
}
