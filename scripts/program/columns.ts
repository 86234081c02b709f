/** Columns of text, as programs print tables. */

/** Lays out lines of cells, the names of the columns first. */
export function columns(lines: readonly (readonly string[])[]): string {
  const [names = []] = lines
  const widths = names.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  const laid = lines.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
  return laid.map((line) => line.trimEnd()).join('\n')
}
