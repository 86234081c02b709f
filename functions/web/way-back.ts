/** The path that a visitor continues to after signing in or proving their identity. */
import { webAppPath } from './visit.ts'

/**
 * Reads one of our paths from a query or form, as `goTo` takes it. Returns the overview for anything
 * else, so that a link cannot redirect a visitor elsewhere through us (open redirect).
 */
export function returnPathOf(next: string | null | undefined): string {
  const base = 'https://own.invalid'
  const target = URL.canParse(next ?? '', base) ? new URL(next ?? '', base) : undefined
  if (!next?.startsWith(`${webAppPath}`) || target?.origin !== base) return ''
  const { pathname, search } = target
  const isOurs = pathname === webAppPath || pathname.startsWith(`${webAppPath}/`)
  return isOurs ? pathname.slice(webAppPath.length) + search : ''
}

/** Returns the path as a hidden field or a query carries it. */
export function returnPathField(way: string): string {
  return webAppPath + way
}
