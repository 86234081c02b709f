/** Where a visitor goes on after signing in or proving itself. */
import { pagesBelow } from './visit.ts'

/**
 * A path of ours from what an address or a form says, as `goTo` takes it; the overview for anything
 * else, so that nobody can send a visitor elsewhere through us.
 */
export function wayBack(next: string | null | undefined): string {
  const base = 'https://own.invalid'
  const target = URL.canParse(next ?? '', base) ? new URL(next ?? '', base) : undefined
  if (!next?.startsWith(`${pagesBelow}`) || target?.origin !== base) return ''
  const { pathname, search } = target
  const isOurs = pathname === pagesBelow || pathname.startsWith(`${pagesBelow}/`)
  return isOurs ? pathname.slice(pagesBelow.length) + search : ''
}

/** The same as a hidden field of a form or a query carries it. */
export function nextOf(way: string): string {
  return pagesBelow + way
}
