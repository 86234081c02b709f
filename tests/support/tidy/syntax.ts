/** Facts about a file, read from its syntax tree. */
import type { ESTree } from 'vite'
import { parseSync, Visitor } from 'vite'
import type { TextFile } from './files.ts'

type Place = { name: string; line: number }

export type Syntax = {
  path: string
  /** Functions with a body of statements, with their line counts. */
  functions: (Place & { lines: number })[]
  /** `any`, `!` after an expression, and enums. */
  unsound: Place[]
  /** `as` without `as const`. */
  casts: Place[]
  /** Exported declarations without a doc comment. */
  undocumented: Place[]
  /** Uses of clock, randomness or network. */
  outside: Place[]
  commentLines: number
  /** Number of lines that are not blank. */
  fullLines: number
  /** Text of all comments. */
  comments: string[]
}

export function read(file: TextFile): Syntax {
  const { program, comments, errors } = parseSync(file.path, file.text)
  if (errors[0]) throw new Error(`${file.path}: ${errors[0].message}`)
  const lineOf = lineCounter(file.text)
  const syntax: Syntax = {
    path: file.path,
    functions: [],
    unsound: [],
    casts: [],
    undocumented: undocumented(file.text, program).map(({ name, at }) => place(name, at)),
    outside: [],
    commentLines: comments.reduce((sum, { start, end }) => sum + spanOf(start, end), 0),
    fullLines: file.text.split('\n').filter((line) => line.trim() !== '').length,
    comments: comments.map(({ value }) => value),
  }
  let isFetchGiven = false
  new Visitor({
    FunctionDeclaration: addFunction,
    FunctionExpression: addFunction,
    ArrowFunctionExpression: addFunction,
    TSAnyKeyword: ({ start }) => syntax.unsound.push(place('any', start)),
    TSNonNullExpression: ({ end }) => syntax.unsound.push(place('!', end)),
    TSEnumDeclaration: ({ start }) => syntax.unsound.push(place('enum', start)),
    TSAsExpression: ({ typeAnnotation: { start, end }, ...cast }) => {
      const type = file.text.slice(start, end)
      if (type !== 'const') syntax.casts.push(place(`as ${type}`, cast.start))
    },
    TSTypeAssertion: ({ start }) => syntax.casts.push(place('<type>', start)),
    ObjectPattern: ({ start, end }) => {
      isFetchGiven ||= /\bfetch\b/.test(file.text.slice(start, end))
    },
    CallExpression: addOutside,
    NewExpression: addOutside,
  }).visit(program)
  // A `fetch` that was destructured from the world is the world's own.
  syntax.outside = syntax.outside.filter(({ name }) => !(isFetchGiven && name === 'fetch'))
  return syntax

  function place(name: string, at: number): Place {
    return { name, line: lineOf(at) }
  }
  function spanOf(start: number, end: number) {
    return lineOf(end) - lineOf(start) + 1
  }
  function addFunction(node: ESTree.Function | ESTree.ArrowFunctionExpression) {
    if (node.body?.type !== 'BlockStatement') return
    const name = node.id?.name ?? 'function'
    syntax.functions.push({ ...place(name, node.start), lines: spanOf(node.start, node.end) })
  }
  function addOutside(node: ESTree.CallExpression | ESTree.NewExpression) {
    const call = outsideCall(node, file.text)
    if (call !== undefined) syntax.outside.push(place(call, node.start))
  }
}

const outsideNames = new Set([
  'Date.now',
  'Math.random',
  'performance.now',
  'crypto.getRandomValues',
  'crypto.randomUUID',
  'fetch',
  'setTimeout',
  'setInterval',
  'AbortSignal.timeout',
])

function outsideCall(node: ESTree.CallExpression | ESTree.NewExpression, text: string) {
  const name = text.slice(node.callee.start, node.callee.end).replace(/^globalThis\./, '')
  const isClock = node.type === 'NewExpression' && name === 'Date' && node.arguments.length === 0
  return isClock || outsideNames.has(name) ? name : undefined
}

/** Returns the exports without a comment directly above them; re-exports are documented elsewhere. */
function undocumented(text: string, { body }: ESTree.Program) {
  return body.flatMap((node) => {
    if (node.type !== 'ExportNamedDeclaration' || !node.declaration) return []
    const before = text.slice(0, node.start).trimEnd()
    const isDocumented =
      before.endsWith('*/') && !/\n\s*\n/.test(text.slice(before.length, node.start))
    return isDocumented
      ? []
      : [{ name: text.slice(node.start).split('\n', 1)[0] ?? '', at: node.start }]
  })
}

function lineCounter(text: string): (at: number) => number {
  const starts = [...text.matchAll(/\n/g)].map(({ index }) => index)
  return (at) => {
    let [low, high] = [0, starts.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) < at) low = middle + 1
      else high = middle
    }
    return low + 1
  }
}
