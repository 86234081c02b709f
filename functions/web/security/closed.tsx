/** The one page of a closed account: until when it can be reopened, and the export of its activity. */
import { reopenAccount } from '../../../shared/auth/close-account.ts'
import { goTo, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { ownerSessionOf } from '../session.ts'
import { Button, Form, LinkButton } from '../ui/form.tsx'
import { Section, Time } from '../ui/show.tsx'
import type { PageContext, Routes } from '../visit.ts'

/** Routes that show the closed account and reopen it. */
export const routes: Routes = (app) => {
  app.get('/closed', showClosed)
  app.post('/closed', async (c) => {
    await reopenAccount(await ownerSessionOf(c))
    return goTo(c, '/freeze', 'reopened')
  })
}

async function showClosed(c: PageContext) {
  const { account } = await requireOwner(c)
  if (account.erasesAt === null) return goTo(c, '')
  return sendPage(
    c,
    <Page
      c={c}
      title="Your account is closed"
      lead={
        <>
          It will be erased after <Time at={account.erasesAt} isInSentence />. Until then you can
          reopen it.
        </>
      }
    >
      <p>
        Payments, the activity and the sealed key of the wallet are kept. Everything else is erased.
        Nobody else ever gets the alias {account.alias}.
      </p>
      <p class="actions">
        <LinkButton to="/activity.csv">Activity as CSV</LinkButton>
        <LinkButton to="/payments.csv">Payments as CSV</LinkButton>
      </p>
      <Section title="Reopen it">
        <p>
          It stays frozen until you unfreeze it. Keys, apps and mandates have to be set up again.
        </p>
        <Form c={c}>
          <Button>Reopen the account</Button>
        </Form>
      </Section>
      <Form c={c} action="/logout">
        <Button kind="plain">Sign out</Button>
      </Form>
    </Page>,
  )
}
