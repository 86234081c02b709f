/** QR codes as drawings in the page: dark on white in any colour scheme, or no camera reads them. */
import { encode } from 'uqr'

/** `label` says what it holds; the same is always on the page as text. */
export function Qr({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { ecc: 'M', border: 4 })
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={data.flatMap(runsOf).join('')} fill="#000" shape-rendering="crispEdges" />
    </svg>
  )
}

/** The dark runs of one row, each as one rectangle of the path. */
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
