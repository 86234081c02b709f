/**
 * Looks up host names in the public suffix list, its private part included: under github.io or
 * s3.amazonaws.com each name may have another owner, as under com.
 */
import { parse } from 'tldts'
import {
  edgeChild,
  edgeLength,
  edgeStart,
  labelText,
  rulesRoot,
} from 'tldts/dist/es6/src/data/trie.js'

/** Returns why a name cannot have one owner: its suffix is unknown, or it is a public suffix itself. */
export function suffixProblem(host: string): 'public_suffix' | 'unknown_suffix' | undefined {
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
export function hasSuffixBelow(host: string): boolean {
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
