/** QR codes as one SVG path, with the quiet zone that cameras need around them. */
import { encode } from 'uqr'

/** Returns the path of the code for a text, and the length of its side in modules. */
export function drawCode(text: string): { size: number; path: string } {
  const { data, size } = encode(text, { ecc: 'M', border: 4 })
  return { size, path: data.flatMap(runsOf).join('') }
}

/** Returns the dark runs of one row, each as a rectangle of the path. */
function runsOf(row: readonly boolean[], y: number): string[] {
  const runs: string[] = []
  for (let x = 0; x < row.length; x += 1) {
    if (!row[x]) continue
    const from = x
    while (row[x + 1]) x += 1
    const length = x - from + 1
    runs.push(`M${from} ${y}h${length}v1h-${length}z`)
  }
  return runs
}
