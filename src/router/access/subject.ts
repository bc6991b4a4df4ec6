/** What a decision is about. */
export interface Subject {
  /** The kind of entry. Skills and resource templates count as resources. */
  readonly kind: 'tool' | 'prompt' | 'resource'
  /** The name that callers see, or the URI. */
  readonly name: string
  /** The name of the server. */
  readonly server: string
}
