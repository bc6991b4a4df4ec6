import { expandParts, type TemplateValue } from './expand.ts'
import { createMatcher } from './match.ts'
import { parseParts } from './parse.ts'

export type { TemplateValue } from './expand.ts'

/**
 * The variables of a template literal: `VariablesOf<'db://users/{id}{?fields*}'>` is `{ id: string;
 * fields?: readonly string[] }`. Exploded variables are arrays. Variables of the operators `? & ; #`
 * are optional. A template that is known only at run time has any names.
 */
export type VariablesOf<T extends string> = string extends T
  ? Readonly<Record<string, string | readonly string[]>>
  : // Inferred and mapped again, so that editors show the members and not how they were found.
    { readonly [S in Needed<Bodies<T>> as NameOf<S>]: ValueOf<S> } & {
        readonly [S in Optional<Bodies<T>> as NameOf<S>]?: ValueOf<S>
      } extends infer Variables
    ? { [Name in keyof Variables]: Variables[Name] }
    : never

/** A URI template of RFC 6570, all four levels: expands values to URIs, and finds values in URIs. */
export interface UriTemplate<T extends string = string> {
  /** The source of the template. */
  readonly text: T
  /** The names of its variables, each once, in order of appearance. */
  readonly variables: readonly string[]
  /**
   * Returns the decoded values that expand to a URI; undefined if there are none.
   *
   * The object has no prototype, and only the variables that were found. The time is linear in the
   * length of the URI; a URI of more than 2^20 characters matches nothing.
   *
   * - A variable matches one character or more. `{x}`, `{.x}` and `{/x}` stay within a path segment:
   *   they never match `/`, `?` or `#`. `{+x}` and `{/x*}` may span segments.
   * - If several values are possible, each variable in turn matches as little as lets the rest match:
   *   `{name}.{type}` finds `a` and `tar.gz` in `a.tar.gz`.
   * - Variables of `?`, `&`, `;` and `#` may be missing. Their named parameters may be in any order,
   *   each once unless it is exploded; a name that is not in the template does not match.
   * - An exploded variable is the array of its values. Objects are not restored.
   * - A variable that appears twice must have the same value in both positions.
   * - A value must not decode to something outside of its position: `.` or `..` as a segment, between
   *   slashes of either kind, outside of the query; NUL; invalid UTF-8.
   */
  match(uri: string): VariablesOf<T> | undefined
  /**
   * Returns the URI for these values. A variable without a value is omitted, as in RFC 6570.
   *
   * Every character that could end a segment is encoded, except with `+` and `#`. Throws a TypeError if
   * a value would become a path segment `.` or `..`, which would leave the path; for arrays and objects
   * in a variable with a prefix modifier; and for strings that are not valid Unicode.
   */
  expand(values: Readonly<Record<string, TemplateValue>>): string
}

/**
 * Parses a URI template. Throws a TypeError that names the fault: unbalanced braces, an invalid name,
 * characters that are not allowed in URIs, a reserved operator, more than 8192 characters, more than 16
 * values to find in a URI.
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
    // The check: the matcher finds the names and forms that the type infers from the text.
    match: uri => match(uri) as VariablesOf<T> | undefined,
    expand: values => expandParts(parts, values),
  }
}

/** The expressions of a template, as a union. */
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
