import { publishedKeys } from '../../../shared/auth/session.ts'
import type { Routes } from '../visit.ts'

/** The keys by which anybody can check a session token (RFC 7517). */
export const routes: Routes = (app) => {
  app.get('/jwks.json', (c) => {
    c.header('cache-control', 'public, max-age=300')
    return c.json(publishedKeys(c.get('world')))
  })
}
