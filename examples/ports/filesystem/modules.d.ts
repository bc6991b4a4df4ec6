// The modules of the published server that its port uses have no types.

declare module '@modelcontextprotocol/server-filesystem/dist/lib.js' {
  interface Edit {
    readonly oldText: string
    readonly newText: string
  }

  export function applyFileEdits(
    path: string,
    edits: readonly Edit[],
    dryRun: boolean,
  ): Promise<string>
  export function formatSize(bytes: number): string
  export function getAllowedDirectories(): string[]
  export function getFileStats(path: string): Promise<Readonly<Record<string, unknown>>>
  export function headFile(path: string, lines: number): Promise<string>
  export function moveFile(source: string, destination: string): Promise<void>
  export function readFileContent(path: string): Promise<string>
  export function searchFilesWithValidation(
    root: string,
    pattern: string,
    allowed: readonly string[],
    options: { readonly excludePatterns: readonly string[] },
  ): Promise<string[]>
  export function setAllowedDirectories(folders: readonly string[]): void
  export function tailFile(path: string, lines: number): Promise<string>
  export function validatePath(path: string): Promise<string>
  export function writeFileContent(path: string, content: string): Promise<void>
}

declare module '@modelcontextprotocol/server-filesystem/dist/path-utils.js' {
  export function expandHome(path: string): string
  export function normalizePath(path: string): string
}

declare module '@modelcontextprotocol/server-filesystem/dist/roots-utils.js' {
  export function getValidRootDirectories(
    roots: readonly { readonly uri: string }[],
  ): Promise<string[]>
}
