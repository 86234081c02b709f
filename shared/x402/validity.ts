/** Longest validity in seconds (five minutes), whatever a merchant asks for: until it ends the amount may be taken. */
const validSecondsMax = 300

/** Returns the seconds for which a signature on an offer is valid: as short as the offer asks. */
export function validSecondsOf(maxTimeoutSeconds: number): number {
  return Math.min(maxTimeoutSeconds, validSecondsMax)
}
