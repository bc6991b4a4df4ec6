/** One option of a command. */
export interface OptionRow {
  /** Long name without dashes. */
  readonly name: string
  /** One-letter name. */
  readonly short?: string
  /** Placeholder of the value; absent for a flag. */
  readonly value?: string
  /** Placeholder of a value that may follow `=`; the option can also be given without it. */
  readonly optional?: string
  /** Whether the option can be repeated. */
  readonly many?: boolean
  /** Names under which users look for it; they get it as a suggestion. */
  readonly aka?: readonly string[]
  /** The allowed values; absent if any value is allowed. */
  readonly choices?: readonly string[]
  readonly meaning: string
}

/** One command, for the help, the parser and the completion scripts. */
export interface CommandRow {
  readonly name: string
  /** Names under which users look for it; they get it as a suggestion. */
  readonly aka?: readonly string[]
  /** Synopsis of the operands. */
  readonly operands: string
  readonly summary: string
  /** Maximum number of operands; unlimited by default. */
  readonly maxOperands?: number
  /** Whether the arguments of a tool or prompt may follow as `--name value`. */
  readonly takesArguments?: boolean
  /** Whether the first operand is a server to connect to. */
  readonly hasTarget?: boolean
  readonly options: readonly OptionRow[]
  readonly examples: readonly string[]
}
