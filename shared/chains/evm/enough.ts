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

/** So many blocks an endpoint may lag behind another one without contradicting it. */
export const lagBlocks = 32n

/** What one endpoint says of what another one showed; undefined where it does not answer. */
export type Opinion = { operator: string; says: boolean | undefined }

/**
 * Whether enough of them say yes, or all that answer: while the others are silent one word counts, and
 * none counts against another.
 */
export function isUncontradicted(opinions: readonly Opinion[]): boolean {
  const answered = opinions.filter(({ says }) => says !== undefined)
  const isOne = answered.length > 0 && answered.every(({ says }) => says === true)
  return (
    isOne || isEnough(opinions.map(({ operator, says }) => ({ operator, agrees: says === true })))
  )
}

/** What only rises, as one endpoint tells it; undefined where it does not. */
export type Told<Count> = { operator: string; count: Count | undefined }

/**
 * The highest count that enough of them tell or exceed; undefined where one is told by none of them. Any
 * one of them can only hold it back.
 */
export function agreedCount<Count extends number | bigint>(
  told: readonly Told<Count>[],
): Count | undefined {
  const counts = told.flatMap(({ count }): Count[] => (count === undefined ? [] : [count]))
  const isTold = (least: Count) =>
    isEnough(
      told.map(({ operator, count }) => ({
        operator,
        agrees: count !== undefined && count >= least,
      })),
    )
  return counts.toSorted((a, b) => (a < b ? 1 : -1)).find(isTold)
}
