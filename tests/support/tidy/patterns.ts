/** The regular expressions of the product: literals, and those built when a module loads. */
import { parseSync, Visitor } from 'vite'
import type { TextFile } from './files.ts'

export type Pattern = { path: string; source: string; flags: string }

/** Returns the patterns written in the text of a file. */
export function writtenIn({ path, text }: TextFile): Pattern[] {
  const found: Pattern[] = []
  new Visitor({
    Literal: (node) => {
      if (!('regex' in node)) return
      found.push({ path, source: node.regex.pattern, flags: node.regex.flags })
    },
  }).visit(parseSync(path, text).program)
  return found
}

/** Returns the patterns that are built while these files are loaded, each file by itself. */
export async function builtBy(files: readonly TextFile[]): Promise<Pattern[]> {
  const found: Pattern[] = []
  const Plain = globalThis.RegExp
  for (const { path, text } of files) {
    if (!text.includes('new RegExp(')) continue
    globalThis.RegExp = new Proxy(Plain, {
      construct(target, [source, flags]: [string, string?]) {
        const built = new target(source, flags)
        found.push({ path, source: built.source, flags: built.flags })
        return built
      },
    })
    try {
      await import(/* @vite-ignore */ `../../../${path}`)
    } finally {
      globalThis.RegExp = Plain
    }
  }
  return found
}
