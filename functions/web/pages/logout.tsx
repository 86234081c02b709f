import { goTo, owner } from '../frame.ts'
import { dropSession } from '../session-cookie.ts'
import { forgetTyped } from '../typed.ts'
import type { Routes } from '../visit.ts'

export const routes: Routes = (app) => {
  app.get('/logout', (c) => goTo(c, '/security'))
  app.post('/logout', async (c) => {
    const { db } = await owner(c)
    await db.run('owner_end_session', {})
    dropSession(c)
    forgetTyped(c)
    return goTo(c, '/login')
  })
}
