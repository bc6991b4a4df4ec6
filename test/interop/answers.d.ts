export declare const fault: {
  readonly code: number
  readonly message: string
  readonly data: unknown
}

export interface Answers {
  add(a: number, b: number): number
  greet(name: string): string
  echo(value: unknown): unknown
  nothing(): null
  mark(word: string): void
  marks(): readonly string[]
  forget(): void
}

export declare function answers(): Answers
