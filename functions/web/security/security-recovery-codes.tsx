/** The page on which the owner makes new recovery codes and sees them once. */
import { makeRecoveryCodes } from '../../../shared/auth/own-secrets.ts'
import { requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { ownerSessionOf, proofFirst, readSecurity } from '../session.ts'
import { Button, Form, LinkButton } from '../ui/form.tsx'
import { Notice } from '../ui/show.tsx'
import type { PageContext, Routes } from '../visit.ts'

const path = '/security/recovery-codes'

/** Routes that count the codes and make new ones. */
export const routes: Routes = (app) => {
  app.get(path, showRecoveryCodes)
  // The answer to the form shows the codes. No page with an address of its own ever does.
  app.post(path, async (c) => showCodes(c, await makeRecoveryCodes(await ownerSessionOf(c))))
}

async function showRecoveryCodes(c: PageContext) {
  const me = await requireOwner(c)
  const security = await readSecurity(c)
  const proof = proofFirst(c, security)
  if (proof) return proof
  const left = security.recovery_codes_left
  return sendPage(
    c,
    <Page
      c={c}
      title="Recovery codes"
      owner={me}
      back={{ to: '/security', label: 'Security' }}
      lead="They let you in if you lose your password and passkeys. Each works once."
    >
      <Form c={c}>
        <p>{left === 0 ? 'You have none.' : `You have ${left} left. New codes replace them.`}</p>
        <Button>Make ten new codes</Button>
      </Form>
    </Page>,
  )
}

async function showCodes(c: PageContext, codes: readonly string[]) {
  return sendPage(
    c,
    <Page c={c} title="Your recovery codes" owner={await requireOwner(c)} scripts={['copy']}>
      <Notice kind="warning" title="They are shown only once">
        Print them or write them down, and keep them away from your devices.
      </Notice>
      <pre class="codes" data-copy={codes.join('\n')}>
        {codes.join('\n')}
      </pre>
      <p class="actions">
        <LinkButton kind="main" to="/security">
          I have saved them
        </LinkButton>
      </p>
    </Page>,
  )
}
