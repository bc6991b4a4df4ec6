export interface FixtureResource {
  readonly uri: string
  readonly name: string
  readonly description: string
  readonly mimeType: string
}

export interface ResourcePage {
  readonly resources: readonly FixtureResource[]
  readonly nextCursor?: string
}

export interface ObjectSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, object>>
  readonly required: readonly string[]
}

export interface FixtureState {
  touch(): number
  touches(): number
  cancelled(): void
  cancellation(): Promise<void>
  release(): void
  released(): Promise<void>
}

export declare const info: { readonly name: string; readonly version: string }
export declare const instructions: string
export declare const png: string
export declare const wav: string
export declare const uris: Readonly<
  Record<'text' | 'binary' | 'touched' | 'template' | 'website', string>
>
export declare const resources: readonly FixtureResource[]
export declare const pageSize: number
export declare function resourcePage(cursor?: string): ResourcePage | undefined
export declare const texts: {
  readonly resource: string
  readonly item: (id: string) => string
  readonly touched: (count: number) => string
  readonly broken: string
  readonly counted: (count: number) => string
  readonly step: (number: number) => string
  readonly cancelled: string
  readonly grown: string
  readonly greeting: (name: string, tone: string) => string
  readonly plain: string
}
export declare const elicitations: {
  readonly who: (how: string) => string
  readonly first: string
  readonly second: string
  readonly consent: string
  readonly addressee: string
}
export declare const whoSchema: ObjectSchema
export declare const wordSchema: ObjectSchema
export declare const completions: {
  readonly name: (value: string) => string[]
  readonly tone: (value: string, name?: string) => string[]
  readonly id: (value: string) => string[]
}
export declare const logLevels: readonly string[]
export declare function fixtureState(): FixtureState
