import type { SkillResource } from '../types/skills.ts'

/** Describes a file of a skill by the digest and the size of its bytes. */
export async function skillResource(
  uri: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<SkillResource> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const hex = Array.from(hash, byte => byte.toString(16).padStart(2, '0')).join('')
  return { uri, digest: `sha256:${hex}`, size: bytes.length }
}
