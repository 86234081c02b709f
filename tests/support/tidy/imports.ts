/**
 * Two import graphs. One is of reading: types count, because a file that needs another's types cannot be
 * read without it. The other is of loading, where types do not count.
 */
import { dirname, join } from 'node:path'
import { parseSync } from 'vite'
import type { TextFile } from './files.ts'

/** Maps a path to the paths of the files that it imports, and to the packages. */
export type Graph = Map<string, { files: string[]; packages: string[] }>

type Link = 'read' | 'loaded'

export function graphOf(files: readonly TextFile[], link: Link = 'read'): Graph {
  return new Map(
    files.map(({ path, text }) => {
      const found = [...new Set(specifiers(path, text, link))]
      const inside = found.filter((name) => name.startsWith('.'))
      return [
        path,
        {
          files: inside.map((name) => join(dirname(path), name)),
          packages: found.filter((name) => !name.startsWith('.')),
        },
      ]
    }),
  )
}

function specifiers(path: string, text: string, link: Link): string[] {
  const { program } = parseSync(path, text)
  return program.body.flatMap((node) => {
    const isImport = node.type === 'ImportDeclaration'
    const isExport = node.type === 'ExportNamedDeclaration' || node.type === 'ExportAllDeclaration'
    if (!(isImport || isExport) || !node.source) return []
    // `import { type A }` is loaded all the same: only `import type` leaves nothing behind.
    const isErased = (isImport ? node.importKind : node.exportKind) === 'type'
    return link === 'loaded' && isErased ? [] : [node.source.value]
  })
}

/** Returns the graph of the folders below a place; files side by side with them count as none. */
export function folderGraph(graph: Graph, below: string): Graph {
  const folders: Graph = new Map()
  for (const [path, { files }] of graph) {
    const from = folderIn(path, below)
    if (from === undefined) continue
    const known = folders.get(from)?.files ?? []
    const others = files.flatMap((file) => folderIn(file, below) ?? [])
    const all = new Set([...known, ...others].filter((folder) => folder !== from))
    folders.set(from, { files: [...all], packages: [] })
  }
  return folders
}

function folderIn(path: string, below: string): string | undefined {
  const [folder, file] = path.startsWith(below) ? path.slice(below.length).split('/') : []
  return file === undefined ? undefined : folder
}

/** Returns each cycle that a walk meets, as the files on it. */
export function cyclesOf(graph: Graph): string[][] {
  const cycles: string[][] = []
  const done = new Set<string>()
  const walk = (path: string, trail: string[]) => {
    if (trail.includes(path)) {
      cycles.push([...trail.slice(trail.indexOf(path)), path])
      return
    }
    if (done.has(path)) return
    for (const next of graph.get(path)?.files ?? []) walk(next, [...trail, path])
    done.add(path)
  }
  for (const path of graph.keys()) walk(path, [])
  return cycles
}

/** Returns the longest chain of imports, as files; a cycle is walked once. */
export function longestChain(graph: Graph): string[] {
  const known = new Map<string, string[]>()
  const from = (path: string, trail: ReadonlySet<string>): string[] => {
    const found = known.get(path)
    if (found) return found
    const onward = (graph.get(path)?.files ?? [])
      .filter((next) => !trail.has(next) && graph.has(next))
      .map((next) => from(next, new Set([...trail, next])))
    const chain = [path, ...longest(onward)]
    known.set(path, chain)
    return chain
  }
  return longest([...graph.keys()].map((path) => from(path, new Set([path]))))
}

function longest(chains: string[][]): string[] {
  return chains.reduce((best, chain) => (chain.length > best.length ? chain : best), [])
}
