/** The packages that a build without types needs. */
export const buildPackages: readonly string[]
