/** Returns the path of an engine's program; undefined if it is not installed. */
export declare function engineProgram(
  name: 'redis' | 'nats' | 'chromium',
  path?: string,
): string | undefined
/**
 * Installs the engines that are missing, where that is possible. Resolves to a line for each that is still missing
 * after a limited time, and never rejects.
 */
export declare function installEngines(options?: {
  readonly path?: string
  readonly canInstall?: boolean
  readonly timeoutMs?: number
  readonly print?: (text: string) => void
}): Promise<readonly string[]>
