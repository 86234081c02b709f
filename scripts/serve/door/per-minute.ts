/** A limit by the minute for clients who have no account: an IPv4 address, or the /64 of an IPv6 address. */
import { isIP } from 'node:net'
import { performance } from 'node:perf_hooks'

const windowMilliseconds = 60_000

/** Returns a function that says whether a client may come once more in this minute. */
export function admitPerMinute(most: number): (ip: string) => boolean {
  const counts = new Map<string, number>()
  let since = performance.now()
  return (ip) => {
    if (performance.now() - since > windowMilliseconds) {
      counts.clear()
      since = performance.now()
    }
    const client = networkOf(ip)
    const count = (counts.get(client) ?? 0) + 1
    counts.set(client, count)
    return count <= most
  }
}

/** Returns the network that a limit counts as one client, as `private.network_of` does in the database. */
function networkOf(ip: string): string {
  if (isIP(ip) !== 6 || ip.includes('.')) return ip
  const [head = [], tail = []] = ip
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''))
  // Two colons stand for as many zeros as are missing (RFC 4291 section 2.2).
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].slice(0, 4).join(':')
}
