/** How many of a chain's endpoints have to say what one of them must not be believed alone. Pure. */

/** What one endpoint says. */
export type Vote = { operator: string; agrees: boolean }

/**
 * Whether enough of a chain's endpoints say yes: the only one; of two both; of more at least two that
 * different operators run, and all of them where one operator runs them all.
 */
export function isEnough(votes: readonly Vote[]): boolean {
  const agreeing = votes.filter(({ agrees }) => agrees)
  const isUnanimous = votes.length > 0 && agreeing.length === votes.length
  const operators = new Set(agreeing.map(({ operator }) => operator)).size
  return isUnanimous || (votes.length > 2 && operators > 1)
}

/** What only rises, as one endpoint tells it; undefined where it does not. */
export type Told = { operator: string; count: number | undefined }

/** As much as enough of them show; zero where they do not. Any one of them can only hold it back. */
export function agreedCount(told: readonly Told[]): number {
  const agreed = told.flatMap(({ count }) => {
    const isShown = (one: Told) => count !== undefined && (one.count ?? -1) >= count
    const votes = told.map((one) => ({ operator: one.operator, agrees: isShown(one) }))
    return count !== undefined && isEnough(votes) ? [count] : []
  })
  return Math.max(0, ...agreed)
}
