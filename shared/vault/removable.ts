/** Limits for the removal of secrets. After a shorter lasting secret is sent, the answer is withheld. */

/** Most secrets for which one answer is searched. */
export const secretsMax = 64

/** Fewest characters to remove: a shorter secret occurs by chance, and the gaps would show where. */
const removableCharactersMin = 6

/** True if a secret is long enough to be removed. */
export function isRemovable(secret: string): boolean {
  return Array.from(secret).length >= removableCharactersMin
}
