/** The form of the navigation with which an owner signs out; it has no page of its own. */
import { goTo, requireOwner } from '../frame.ts'
import { dropSession } from '../session-cookie.ts'
import { deleteFormDraft, type Routes } from '../visit.ts'

/** Routes that end the session. */
export const routes: Routes = (app) => {
  app.get('/logout', (c) => goTo(c, '/security'))
  app.post('/logout', async (c) => {
    const { db } = await requireOwner(c)
    await db.run('owner_leave', {})
    dropSession(c)
    deleteFormDraft(c)
    return goTo(c, '/login', 'signed_out')
  })
}
