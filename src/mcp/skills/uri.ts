/** The file that every skill has. */
export const skillFile = 'SKILL.md'

/** The URI of the folder of a skill, from the URI of its `SKILL.md`; undefined for any other URI. */
export function skillRoot(uri: string): string | undefined {
  return uri.endsWith(`/${skillFile}`) ? uri.slice(0, -skillFile.length - 1) : undefined
}

/** The name of a skill, which is the last segment of its folder. */
export function skillName(root: string): string {
  return root.slice(root.lastIndexOf('/') + 1)
}

/** Says what is wrong with the path of a skill, such as `acme/refunds`; undefined for a valid one. */
export function skillPathProblem(path: string): string | undefined {
  const segments = path.split('/')
  const name = segments.at(-1) ?? ''
  if (name.length > 64 || !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) {
    return `a skill is named by 1 to 64 lowercase letters, digits and single hyphens (got ${JSON.stringify(name)})`
  }
  const other = segments.find(segment => !/^[\w~-][\w.~-]*$/.test(segment))
  if (other === undefined) return undefined
  return `${JSON.stringify(other)} is not a segment of a path: use letters, digits and "-", "_", "." or "~"`
}

/** Says what is wrong with the path of a supporting file; undefined for a valid one. */
export function filePathProblem(path: string): string | undefined {
  if (path === skillFile) return `${skillFile} is made from the definition and the instructions`
  const isWrong = path.split('/').some(segment => segment === '' || /^\.\.?$/.test(segment))
  return isWrong || /[\\\0]/.test(path)
    ? `${JSON.stringify(path)} is not a relative path such as "references/forms.md"`
    : undefined
}

/** The URI of a file in a folder, from its path. */
export function fileUri(root: string, path: string): string {
  return `${root}/${path.split('/').map(encodeURIComponent).join('/')}`
}

/**
 * Resolves a reference in a skill, a relative path or a URI, to the URI of a file. Returns undefined for
 * a reference that leads out of the folder of the skill.
 */
export function resolveReference(root: string, reference: string): string | undefined {
  if (reference.startsWith(`${root}/`)) {
    const path = decoded(reference.slice(root.length + 1))
    return filePathProblem(path) === undefined || path === skillFile ? reference : undefined
  }
  if (/^[a-z][a-z0-9+.-]*:|^[/\\]/i.test(reference)) return undefined
  const segments: string[] = []
  for (const segment of reference.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') segments.push(segment)
    else if (segments.pop() === undefined) return undefined
  }
  return segments.length === 0 ? undefined : fileUri(root, segments.join('/'))
}

/** A URI without percent-encoding, to compare URIs that encode different characters. */
export function decoded(uri: string): string {
  try {
    return decodeURIComponent(uri)
  } catch {
    return uri
  }
}
