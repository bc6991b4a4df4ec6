import type { InferInput, Primitives } from '../../mcp/schema/standard-schema.ts'

/**
 * What is wrong with the schema of the arguments of a tool, as a text that the compiler shows; `unknown` if
 * nothing is.
 */
export type InputFault<S> = [S] extends [never]
  ? unknown
  : // Found here and not by InferInput, which costs the compiler more.
    S extends { readonly '~standard': { readonly types?: infer Types } }
    ? NonNullable<Types> extends { readonly input: NotAnObject }
      ? 'The input of a tool must be an object, such as z.object({ … }).'
      : unknown
    : PlainFault<S>

/** What is wrong with the schema of a result; `unknown` if nothing is. */
export type OutputFault<S> = [S] extends [never] ? unknown : PlainFault<S>

/** What is wrong with the schema of the arguments of a prompt; `unknown` if nothing is. */
export type ArgumentsFault<S> = [S] extends [never]
  ? unknown
  : S extends { readonly '~standard': { readonly types?: infer Types } }
    ? NonNullable<Types> extends { readonly input: infer Given }
      ? GivenFault<Given>
      : unknown
    : PlainFault<S> extends infer Fault
      ? unknown extends Fault
        ? GivenFault<InferInput<S>>
        : Fault
      : never

/** What is wrong with the arguments that the schema of a prompt accepts. */
type GivenFault<Given> = Given extends NotAnObject
  ? 'The arguments of a prompt must be an object, such as z.object({ … }).'
  : NotStringFault<NotStrings<Given>>

interface OfLibrary {
  readonly '~standard': unknown
}

type NotAnObject = string | number | bigint | boolean | null | undefined | readonly unknown[]

type NotStringFault<Name extends string> = [Name] extends [never]
  ? unknown
  : `The argument "${Name}" accepts no string, but clients send only strings to prompts.`

/** The names of the members that accept no string. */
type NotStrings<Given> = {
  [Name in keyof Given & string]-?: unknown extends Given[Name]
    ? never
    : [Extract<Given[Name], string>] extends [never]
      ? Name
      : never
}[keyof Given & string]

type PlainFault<S> = S extends OfLibrary
  ? unknown
  : unknown extends S[keyof S]
    ? // The compiler does not know the keywords of the schema.
      unknown
    : [Extract<S[keyof S], OfLibrary>] extends [never]
      ? TypeFault<UnknownType<S>>
      : 'Make one schema of the members, such as z.object({ … }).'

type TypeFault<Type extends string> = [Type] extends [never]
  ? unknown
  : `JSON Schema has no type "${Type}": use string, number, integer, boolean, null, object or array.`

/** The types in a plain JSON Schema that do not exist. */
type UnknownType<S> =
  | (S extends { readonly type: infer Type } ? NotAType<Type> : never)
  | (S extends { readonly properties: infer Properties }
      ? { [Name in keyof Properties]: UnknownType<Properties[Name]> }[keyof Properties]
      : never)
  | (S extends { readonly items: infer Items } ? UnknownType<Items> : never)

type NotAType<Type> = Type extends readonly (infer Each)[]
  ? NotAType<Each>
  : Type extends string
    ? // The compiler does not know the literal.
      string extends Type
      ? never
      : Exclude<Type, keyof Primitives | 'object' | 'array'>
    : never
