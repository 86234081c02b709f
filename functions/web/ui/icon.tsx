import { raw } from 'hono/html'
import { icons } from './icons.ts'

/** Shows an icon beside its label; screen readers skip it. */
export function Icon({ name }: { name: keyof typeof icons }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {raw(icons[name])}
    </svg>
  )
}
