/**
 * Orders a chain's endpoints. One that gave no answer is set aside for a while: that changes the order but
 * removes none, so if all are set aside, the one that returns first is still asked. The functions are pure.
 * The caller keeps the records, and knows which failures are the endpoint's and which the call's.
 */

/** Failure record of an endpoint since it last answered. */
export type Health = { outages: number; restsUntilMilliseconds: number }
/** Records by URL. An endpoint without one is healthy. */
export type EndpointHealth = Map<string, Health>

const restMinMilliseconds = 1_000
/** Longest time for which an endpoint is set aside, whatever it requests. */
const restMaxMilliseconds = 60_000

/** Returns healthy endpoints in configured order, then those set aside, the first to return first. */
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
 * Returns the record after a failure. Each new outage doubles the rest. Failures of calls that were under
 * way when the outage began belong to it and do not. `retryAfterMilliseconds` is the rest that the endpoint
 * requested.
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
 * Returns the operator of an endpoint: the last two labels of its host, or host and port for an IP address
 * or localhost. Two operators below one public suffix count as one, which errs on the safe side.
 */
export function operatorOf(url: string): string {
  const { host, hostname: name } = new URL(url)
  // A DNS name may end in the dot of the root.
  const hostname = name.replace(/\.$/, '')
  const isAddress = /^\[|^[0-9.]+$|(^|\.)localhost$/.test(hostname)
  return isAddress ? host : hostname.split('.').slice(-2).join('.')
}

/** Returns true if no second operator could contradict: one operator runs all the endpoints. */
export function hasOneOperator(urls: readonly string[]): boolean {
  return new Set(urls.map(operatorOf)).size < 2
}
