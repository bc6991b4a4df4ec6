import { expandParts, type TemplateValue } from './expand.ts'
import { createMatcher } from './match.ts'
import { parseParts } from './parse.ts'

export type { TemplateValue } from './expand.ts'

/**
 * The variables of a template written as a literal: `VariablesOf<'db://users/{id}{?fields*}'>` is
 * `{ id: string; fields?: readonly string[] }`. Exploded variables are lists. Those of the operators
 * `? & ; #` may be absent. Of a template that is known only when the program runs, any names.
 */
export type VariablesOf<T extends string> = string extends T
  ? Readonly<Record<string, string | readonly string[]>>
  : Show<
      { readonly [S in Needed<Bodies<T>> as NameOf<S>]: ValueOf<S> } & {
        readonly [S in Optional<Bodies<T>> as NameOf<S>]?: ValueOf<S>
      }
    >

/** A URI template of RFC 6570, all four levels: makes URIs of values, and values of URIs. */
export interface UriTemplate<T extends string = string> {
  /** As it was written. */
  readonly text: T
  /** The names of its variables, each once, in the order of their first appearance. */
  readonly variables: readonly string[]
  /**
   * The values with which a URI could have been made, decoded; undefined when it could not.
   *
   * The object has no prototype, and only the variables that were found. Takes time in proportion to
   * the length of the URI; one of more than 2^20 characters matches nothing.
   *
   * - A variable takes one character or more. `{x}`, `{.x}` and `{/x}` stay within a segment of the
   *   path: they never take `/`, `?` or `#`. `{+x}` and `{/x*}` may reach over segments.
   * - Where several values would do, each variable in turn takes as little as lets the rest match:
   *   `{name}.{type}` finds `a` and `tar.gz` in `a.tar.gz`.
   * - What `?`, `&`, `;` and `#` introduce may be absent. Their named parameters come in any order, each
   *   once unless it is exploded; a name that the template does not have is no match.
   * - An exploded variable is the list of its values. Objects are not found again.
   * - A variable that appears twice has the same value in both places.
   * - A value that decodes to something outside of its place is none: one with `.` or `..` as a segment,
   *   between slashes of either kind, outside of the query; one with NUL; one that is no UTF-8.
   */
  match(uri: string): VariablesOf<T> | undefined
  /**
   * The URI for these values. A variable without one is left out, as RFC 6570 says.
   *
   * Everything that could end a segment is encoded, except with `+` and `#`. Throws a TypeError where a
   * value would become a segment `.` or `..` of the path, which would lead out of it; for lists and
   * objects in a variable cut to a prefix; and for text that is no Unicode.
   */
  expand(values: Readonly<Record<string, TemplateValue>>): string
}

/**
 * Reads a URI template. Throws a TypeError that names what is wrong with it: braces that do not pair, a
 * name that is none, characters that no URI has, an operator that RFC 6570 keeps for later, more than
 * 8192 characters, more than 16 values to find in a URI.
 */
export function parseTemplate<const T extends string>(text: T): UriTemplate<T> {
  const parts = parseParts(text)
  const names = parts.flatMap(part =>
    typeof part === 'string' ? [] : part.variables.map(variable => variable.name),
  )
  const match = createMatcher(parts)
  return {
    text,
    variables: [...new Set(names)],
    // The check: the names and forms that the matcher finds are those that the type reads in the text.
    match: uri => match(uri) as VariablesOf<T> | undefined,
    expand: values => expandParts(parts, values),
  }
}

/** What stands between the braces of a template, as a union. */
type Bodies<
  T extends string,
  Found extends string = never,
> = T extends `${string}{${infer Body}}${infer Rest}` ? Bodies<Rest, Found | Body> : Found

type Needed<Body extends string> = Body extends `${'?' | '&' | ';' | '#'}${string}`
  ? never
  : Body extends `${'+' | '.' | '/'}${infer List}`
    ? Split<List>
    : Split<Body>

type Optional<Body extends string> = Body extends `${'?' | '&' | ';' | '#'}${infer List}`
  ? Split<List>
  : never

type Split<
  List extends string,
  Found extends string = never,
> = List extends `${infer Head},${infer Tail}` ? Split<Tail, Found | Head> : Found | List

type NameOf<Spec extends string> = Spec extends `${infer Name}*`
  ? Name
  : Spec extends `${infer Name}:${string}`
    ? Name
    : Spec

type ValueOf<Spec extends string> = Spec extends `${string}*` ? readonly string[] : string

type Show<T> = { [K in keyof T]: T[K] }
