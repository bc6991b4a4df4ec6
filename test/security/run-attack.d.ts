export function runAttack(
  name: string,
): Promise<{ readonly keptBytes: number; readonly grownBytes: number; readonly blockedMs: number }>
