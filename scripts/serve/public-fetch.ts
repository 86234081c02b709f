/**
 * A fetch that reaches public addresses only. A stranger's name that resolves to this machine or to a private
 * network is refused when the connection is made, so neither a redirect nor a change of DNS leads inside.
 */
import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { BlockList, isIP } from 'node:net'

const connectTimeoutMilliseconds = 10_000

/** Special-purpose addresses (IANA registries of RFC 6890) that no stranger may lead to. */
const inside = new BlockList()
const ranges =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 ' +
  '192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 ' +
  '198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4'
for (const range of ranges.split(' ')) {
  const [network = '', bits] = range.split('/')
  inside.addSubnet(network, Number(bits), 'ipv4')
}

/** Returns true if an IP address is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !inside.check(address, 'ipv4')
  return isIP(address) === 6 && isPublicIpv6(address)
}

/** Global unicast is 2000::/3; within it, what stands for an IPv4 address or a document is left out. */
const globalIpv6 = new BlockList()
globalIpv6.addSubnet('2000::', 3, 'ipv6')
const specialIpv6 = new BlockList()
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  specialIpv6.addSubnet(network, bits, 'ipv6')
}

function isPublicIpv6(address: string): boolean {
  return globalIpv6.check(address, 'ipv6') && !specialIpv6.check(address, 'ipv6')
}

const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    if (error) return callback(error, [])
    if (found.length > 0 && found.every(({ address }) => isPublicAddress(address))) {
      const [first] = found
      return options.all
        ? callback(null, found)
        : callback(null, first?.address ?? '', first?.family)
    }
    callback(new Error(`${hostname} does not resolve to a public address`), [])
  })
}

/** Returns the fetch; the servers in `hosts` (host:port, or a host with all its ports) are reached wherever they lie. */
export function publicFetch(hosts: readonly string[]): typeof globalThis.fetch {
  const send = globalThis.fetch
  let strangers: Promise<object> | undefined
  return async (input, init) => {
    const { host, hostname } = new URL(input instanceof Request ? input.url : String(input))
    if (hosts.includes(host) || hosts.includes(hostname)) return send(input, init)
    strangers ??= openConnections()
    // The types of this undici and of the one in Node differ; a dispatcher of either works.
    const more = { dispatcher: await strangers }
    return send(input, Object.assign<RequestInit, object>({ ...init }, more))
  }
}

/** Loads undici, which takes 30 MB, and which a process without requests to strangers never needs. */
async function openConnections(): Promise<object> {
  const { Agent, buildConnector } = await import('undici')
  const connect = buildConnector({ lookup: publicLookup, timeout: connectTimeoutMilliseconds })
  return new Agent({
    connect(options, callback) {
      const address = options.hostname.replace(/^\[|\]$/g, '')
      if (isIP(address) === 0 || isPublicAddress(address)) return connect(options, callback)
      callback(new Error(`${address} is not a public address`), null)
    },
  })
}
