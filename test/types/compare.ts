/** The type with all members writable, as the official packages declare theirs. */
export type Writable<T> = T extends readonly (infer Entry)[]
  ? Writable<Entry>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Writable<T[Key]> }
    : T

/** The members of `Theirs` that `Ours` lacks, over all variants of both. */
export type Missing<Theirs, Ours> = Exclude<NamedKeys<Theirs>, AllKeys<Ours>>

type AllKeys<T> = T extends unknown ? keyof T : never

type NamedKeys<T> = T extends unknown
  ? keyof { [Key in keyof T as string extends Key ? never : number extends Key ? never : Key]: 0 }
  : never
