/**
 * The pages that a browser can open, asked of the built app itself, so that none is forgotten. A page
 * about one thing has a parameter in its path; here stands what it is opened with.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import type { Stage } from './stage.ts'

export type Place = { route: string; path: string; by: 'owner' | 'stranger' }

const built = z.object({
  default: z.object({
    app: z.object({ routes: z.array(z.object({ method: z.string(), path: z.string() })) }),
  }),
})

/** Paths of all pages as the app routes them; `modules` is where the functions were built to. */
export async function routesOf(modules: string): Promise<string[]> {
  const module: unknown = await import(pathToFileURL(join(modules, 'web.mjs')).href)
  const { routes } = built.parse(module).default.app
  const pages = routes.filter(({ method, path }) => method === 'GET' && !notPages.test(path))
  return [...new Set(pages.map(({ path }) => path))]
}

/** What every path passes, what pages are made of, and answers that are not pages. */
const notPages = /\*|\/assets\/|\.json$|\.csv$/

/** Pages that are for those who have no session. */
const withoutSession = /^\/web\/(login|join|register|action)\b/

/** Where each route is looked at; a parameter that nothing stands for is an error. */
export function placesOf(routes: readonly string[], stage: Stage): Place[] {
  const values: Readonly<Record<string, string>> = stage
  return routes.map((route) => {
    const path = route.replace(/:([a-z_]+)(\{[^}]*\})?/gi, (_, name: string) => {
      const value = values[name]
      if (value === undefined)
        throw new Error(`${route}: name what stands for ${name} on the stage`)
      return value
    })
    return { route, path, by: withoutSession.test(route) ? 'stranger' : 'owner' }
  })
}
