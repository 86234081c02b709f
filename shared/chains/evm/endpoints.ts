/**
 * Which of a chain's endpoints is asked first. One that gave no answer is set aside for a while:
 * that changes the order and removes nobody, so with all set aside the least bad is still asked.
 * Pure; the caller keeps the records, and knows which failures are the endpoint's and which the call's.
 */

/** An endpoint's record since it last answered. */
export type Health = { outages: number; restsUntilMilliseconds: number }
/** Records by URL; an endpoint without one is healthy. */
export type EndpointHealth = Map<string, Health>

const restMinMilliseconds = 1_000
/** No endpoint is set aside for longer, whatever it asks for itself. */
const restMaxMilliseconds = 60_000

/** The healthy as they are configured, then those set aside, the first to return first. */
export function byPreference(
  urls: readonly string[],
  health: ReadonlyMap<string, Health>,
  nowMilliseconds: number,
): string[] {
  const restOf = (url: string) =>
    Math.max(0, (health.get(url)?.restsUntilMilliseconds ?? 0) - nowMilliseconds)
  return urls.toSorted((a, b) => restOf(a) - restOf(b))
}

/**
 * The record after a failure. Each outage doubles the rest; failures of calls that were under way
 * when it began belong to it and do not. `retryAfterMilliseconds` is what the endpoint asked for.
 */
export function afterFailure(
  { outages, restsUntilMilliseconds }: Health = { outages: 0, restsUntilMilliseconds: 0 },
  nowMilliseconds: number,
  retryAfterMilliseconds = 0,
): Health {
  const isNew = restsUntilMilliseconds <= nowMilliseconds
  const own = isNew ? restMinMilliseconds * 2 ** outages : 0
  const rest = Math.min(Math.max(own, retryAfterMilliseconds), restMaxMilliseconds)
  return {
    outages: isNew ? outages + 1 : outages,
    restsUntilMilliseconds: Math.max(restsUntilMilliseconds, nowMilliseconds + rest),
  }
}

/**
 * Who runs an endpoint: the last two labels of its host, and an address with its port. That takes two
 * strangers below one public suffix for one operator, which errs to the careful side.
 */
export function operatorOf(url: string): string {
  const { host, hostname } = new URL(url)
  const isAddress = /^\[|^[0-9.]+$|(^|\.)localhost$/.test(hostname)
  return isAddress ? host : hostname.split('.').slice(-2).join('.')
}

/** Whether nobody else could contradict: all the endpoints belong to one operator. */
export function hasOneOperator(urls: readonly string[]): boolean {
  return new Set(urls.map(operatorOf)).size < 2
}
