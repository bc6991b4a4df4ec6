/** Returns the path of an engine's program; undefined if it is not installed. */
export declare function engineProgram(name: 'redis'): string | undefined
/** Installs the engines that are missing, where that is possible, and reports what will not be tested. */
export declare function installEngines(): void
