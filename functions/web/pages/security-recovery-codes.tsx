import { makeRecoveryCodes } from '../../../shared/auth/own-secrets.ts'
import { owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { ownSession, proofFirst, readSecurity } from '../own-session.ts'
import { Button, Form, LinkButton } from '../parts/form.tsx'
import { Notice } from '../parts/show.tsx'
import type { Routes, Visit } from '../visit.ts'

const path = '/security/recovery-codes'

export const routes: Routes = (app) => {
  app.get(path, showRecoveryCodes)
  // Shown in the answer itself and nowhere else, for no other page could show them.
  app.post(path, async (c) => showCodes(c, await makeRecoveryCodes(await ownSession(c))))
}

async function showRecoveryCodes(c: Visit) {
  const me = await owner(c)
  const security = await readSecurity(c)
  const proof = proofFirst(c, security)
  if (proof) return proof
  const left = security.recovery_codes_left
  return show(
    c,
    <Page
      c={c}
      title="Recovery codes"
      owner={me}
      back={{ to: '/security', label: 'Security' }}
      lead="They open the account when password and passkeys are lost. Each works once."
    >
      <Form c={c}>
        <p>{left === 0 ? 'You have none.' : `You have ${left} left. New ones make them void.`}</p>
        <Button>Make ten new codes</Button>
      </Form>
    </Page>,
  )
}

async function showCodes(c: Visit, codes: readonly string[]) {
  return show(
    c,
    <Page c={c} title="Your recovery codes" owner={await owner(c)} scripts={['copy']}>
      <Notice kind="warning" title="They are shown this once">
        Print them or write them down, and keep them away from your devices.
      </Notice>
      <pre class="codes" data-copy={codes.join('\n')}>
        {codes.join('\n')}
      </pre>
      <p class="actions">
        <LinkButton kind="main" to="/security">
          I have kept them
        </LinkButton>
      </p>
    </Page>,
  )
}
