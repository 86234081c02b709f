/** QR codes as drawings in the page: dark on white in any colour scheme, or no camera reads them. */
import { drawCode } from '../qr-code.ts'

/** `label` says what it holds; the same is always on the page as text. */
export function Qr({ text, label }: { text: string; label: string }) {
  const { size, path } = drawCode(text)
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" shape-rendering="crispEdges" />
    </svg>
  )
}
