/**
 * Finds UPDATE and DELETE without WHERE, which the extension `safeupdate` of hosted projects refuses. It
 * reads SQL as tokens, including the bodies of functions.
 */

const tokens =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$[a-z_]*\$|[a-z_][a-z_0-9.]*|[();]|\S/gi

/** Returns the first words of each such statement. */
export function unboundedStatements(sql: string): string[] {
  const words = [...sql.matchAll(tokens)].flatMap(([text]) =>
    /^(--|\/\*|')/.test(text) ? [] : [text.toLowerCase()],
  )
  return words.flatMap((word, at) => {
    if (!isStatement(words, at) || hasWhere(words, at)) return []
    return [`${word} ${words.slice(at + 1, at + 5).join(' ')}`]
  })
}

/** Tells a statement from `for update`, `on conflict do update`, `on delete cascade` and triggers. */
function isStatement(words: readonly string[], at: number): boolean {
  const before = words[at - 1] ?? ''
  if (/^(for|do|on|before|after|or|grant|,|no|key)$/.test(before)) return false
  if (words[at] === 'delete') return words[at + 1] === 'from'
  return words[at] === 'update' && words[at + 1] !== 'of'
}

/** Looks for WHERE at the nesting depth of the statement, up to its end. */
function hasWhere(words: readonly string[], at: number): boolean {
  let depth = 0
  for (const word of words.slice(at)) {
    if (word === '(') depth += 1
    else if (word === ')') depth -= 1
    if (depth < 0 || (depth === 0 && (word === ';' || /^\$.*\$$/.test(word)))) return false
    if (depth === 0 && word === 'where') return true
  }
  return false
}
