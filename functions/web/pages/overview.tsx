import { owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { Facts } from '../parts/show.tsx'
import type { Routes } from '../visit.ts'

export const routes: Routes = (app) => {
  app.get('/', async (c) => {
    const me = await owner(c)
    return show(
      c,
      <Page c={c} title="Overview" owner={me}>
        <Facts facts={[['Mail address', me.account.mailAddress]]} />
      </Page>,
    )
  })
}
