/** Which secrets can be taken out of an answer. Of the others, an answer that holds one is withheld. */

/** Secrets that one answer is looked through for. */
export const secretsMax = 64

/** A shorter one stands in many texts by chance, and its removal would tell where. */
const removableCharactersMin = 6

/** Whether a secret is long enough to be removed. */
export function isRemovable(secret: string): boolean {
  return Array.from(secret).length >= removableCharactersMin
}
