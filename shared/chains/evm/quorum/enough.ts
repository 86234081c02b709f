/** Quorum rules: how many endpoints must confirm what one must not establish alone. Pure functions. */

/** Vote of one endpoint, with the operator that runs it. */
export type Vote = { operator: string; agrees: boolean }

/**
 * Returns true if the votes are a quorum: all of them agree, or of more than two those of two different
 * operators do. So a single endpoint suffices if it is the only one, and two must both agree.
 */
export function isQuorum(votes: readonly Vote[]): boolean {
  const agreeing = votes.filter(({ agrees }) => agrees)
  const isUnanimous = votes.length > 0 && agreeing.length === votes.length
  const operators = new Set(agreeing.map(({ operator }) => operator)).size
  return isUnanimous || (votes.length > 2 && operators > 1)
}

/** A count that only rises, as one endpoint reports it; undefined if it reports none. */
export type CountReport<Count> = { operator: string; count: Count | undefined }

/**
 * Returns the highest count that a quorum reports or exceeds; undefined if there is no quorum. A single
 * endpoint can only hold the result back.
 */
export function agreedCount<Count extends number | bigint>(
  reports: readonly CountReport<Count>[],
): Count | undefined {
  const counts = reports.flatMap(({ count }): Count[] => (count === undefined ? [] : [count]))
  const isAgreed = (least: Count) =>
    isQuorum(
      reports.map(({ operator, count }) => ({
        operator,
        agrees: count !== undefined && count >= least,
      })),
    )
  return counts.toSorted((a, b) => (a < b ? 1 : -1)).find(isAgreed)
}
