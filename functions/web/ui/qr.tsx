/** QR codes as SVG, dark on white in every colour scheme, because cameras read nothing else. */
import { drawCode } from '../qr-code.ts'

/** Draws a code; `label` says what it contains, which the page also shows as text. */
export function Qr({ text, label }: { text: string; label: string }) {
  const { size, path } = drawCode(text)
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" shape-rendering="crispEdges" />
    </svg>
  )
}
