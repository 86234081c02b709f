/** Declarations that the packages' own types lack: the module form of punycode, and the list in tldts. */
declare module 'punycode/punycode.es6.js' {
  export { toUnicode } from 'punycode'
}

declare module 'tldts/dist/es6/src/data/trie.js' {
  /** Edge offsets. The edges of node n are edgeStart[n] up to, not including, edgeStart[n + 1]. */
  export const edgeStart: Uint16Array
  /** Length of each edge's label. The labels are stored one after another in labelText. */
  export const edgeLength: Uint8Array
  /** The node to which each edge leads. */
  export const edgeChild: Uint16Array
  export const labelText: string
  export const rulesRoot: number
}
