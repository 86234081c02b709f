/**
 * Converts a merchant's host name to the one form that a mandate stores, and refuses a name that has not one owner, after
 * the public suffix list.
 */
import { parse } from 'tldts'
import {
  edgeChild,
  edgeLength,
  edgeStart,
  labelText,
  rulesRoot,
} from 'tldts/dist/es6/src/data/trie.js'
import type { Config } from '../env.ts'
import { isSharedDomain } from '../mailbox/registrable-domain.ts'
import { type CanonicalHost, canonicalHost, type RefusedDomain, refuseDomain } from './host-name.ts'

/** A name in its one form, or the first rule that it fails. */
export type CanonicalDomain =
  | (Omit<CanonicalHost, 'network'> & {
      /** True if all names below it have the same owner, so that a mandate may include them. */
      ownsSubdomains: boolean
    })
  | RefusedDomain

/** Converts the host that an agent named into its one form. */
export function canonicalDomain(
  input: string,
  config: Pick<Config, 'allowLoopback'>,
): CanonicalDomain {
  const read = canonicalHost(input, config)
  if ('problem' in read) return read
  const { network, ...host } = read
  const problem = network === 'public' ? suffixProblem(host.domain) : undefined
  if (problem !== undefined) return refuseDomain(problem, input)
  const isOfOneOwner = !hasSuffixBelow(host.domain) && !isSharedDomain(host.domain)
  return { ...host, ownsSubdomains: network !== 'loopback' && isOfOneOwner }
}

/** Returns why a name cannot have one owner: its suffix is unknown, or it is a public suffix itself. */
function suffixProblem(host: string): 'public_suffix' | 'unknown_suffix' | undefined {
  const options = { allowPrivateDomains: true, extractHostname: false, validateHostname: false }
  const { publicSuffix, isIcann, isPrivate } = parse(host, options)
  if (!isIcann && !isPrivate) return 'unknown_suffix'
  return publicSuffix === host ? 'public_suffix' : undefined
}

/**
 * Returns true if some names below a host belong to others, as s3.amazonaws.com does below amazonaws.com.
 * tldts has no function for that, so its list is walked here, starting at the last label. In the list a
 * wildcard is always the first label, so nothing lies below one.
 */
function hasSuffixBelow(host: string): boolean {
  let node: number | undefined = rulesRoot
  for (const label of host.split('.').reverse()) {
    node = childOf(node, label)
    if (node === undefined) return false
  }
  return firstEdge(node) < firstEdge(node + 1)
}

function childOf(node: number, label: string): number | undefined {
  let at = edgeLength.subarray(0, firstEdge(node)).reduce((sum, length) => sum + length, 0)
  for (let edge = firstEdge(node); edge < firstEdge(node + 1); edge += 1) {
    const end = at + (edgeLength[edge] ?? 0)
    if (labelText.slice(at, end) === label) return edgeChild[edge]
    at = end
  }
  return undefined
}

/** Returns the first edge of a node. The edges of a node end where those of the next begin. */
function firstEdge(node: number): number {
  return edgeStart[node] ?? 0
}
