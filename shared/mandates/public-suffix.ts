/**
 * What the public suffix list says about a host name, its private part included: under github.io
 * or s3.amazonaws.com every name belongs to somebody else, as under com.
 */
import { parse } from 'tldts'
import {
  edgeChild,
  edgeLength,
  edgeStart,
  labelText,
  rulesRoot,
} from 'tldts/dist/es6/src/data/trie.js'

/** Whether a name can have one owner: the list knows its suffix, and it is more than that. */
export function suffixProblem(host: string): 'public_suffix' | 'unknown_suffix' | undefined {
  const options = { allowPrivateDomains: true, extractHostname: false, validateHostname: false }
  const { publicSuffix, isIcann, isPrivate } = parse(host, options)
  if (!isIcann && !isPrivate) return 'unknown_suffix'
  return publicSuffix === host ? 'public_suffix' : undefined
}

/**
 * Whether some names below a host belong to others, as s3.amazonaws.com does below amazonaws.com.
 * The package answers that for no host, so its list is walked here, from the last label on.
 */
export function hasSuffixBelow(host: string): boolean {
  let nodes = [rulesRoot]
  for (const label of host.split('.').reverse()) {
    nodes = nodes.flatMap((node) => childrenOf(node, label))
  }
  return nodes.some((node) => edgesFrom(node) < edgesFrom(node + 1))
}

function childrenOf(node: number, label: string): number[] {
  const found: number[] = []
  let at = edgeLength.subarray(0, edgesFrom(node)).reduce((sum, length) => sum + length, 0)
  for (let edge = edgesFrom(node); edge < edgesFrom(node + 1); edge += 1) {
    const end = at + (edgeLength[edge] ?? 0)
    const text = labelText.slice(at, end)
    if (text === label || text === '*') found.push(edgeChild[edge] ?? rulesRoot)
    at = end
  }
  return found
}

function edgesFrom(node: number): number {
  return edgeStart[node] ?? 0
}
