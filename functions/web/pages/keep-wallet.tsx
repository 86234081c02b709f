import * as z from 'zod'
import { fail, Rejection } from '../../../shared/contract/errors.ts'
import { actionSchema } from '../../../shared/hosted/action.ts'
import { recipientTrusted } from '../../../shared/mail/money-messages.ts'
import { fields, goTo, owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { noticeOf } from '../own-session.ts'
import { Button, Checkbox, Form } from '../parts/form.tsx'
import { Address, Notice, Section } from '../parts/show.tsx'
import type { Owner, Routes, Visit } from '../visit.ts'

const actionRow = z.object({ action: actionSchema })
const addedRow = z.object({ outcome: z.enum(['known', 'similar', 'own', 'added']) })

export const routes: Routes = (app) => {
  app.get('/keep-wallet/:action', async (c) => {
    const me = await owner(c)
    const { sender, isKnown } = await payerOf(me, actionId(c))
    return show(
      c,
      <Page
        c={c}
        title="Make this wallet a known recipient"
        owner={me}
        back={{ to: '/recipients', label: 'Recipients and devices' }}
        scripts={['copy']}
      >
        <Section title="The wallet">
          <p>
            <Address value={sender} />
          </p>
          {isKnown ? (
            <Notice kind="good">It is a known recipient of {me.account.alias}.</Notice>
          ) : (
            <Question c={c} alias={me.account.alias} wallet={sender} />
          )}
        </Section>
      </Page>,
    )
  })
  app.post('/keep-wallet/:action', async (c) => {
    const me = await owner(c)
    const action_id = actionId(c)
    const { sender } = await payerOf(me, action_id)
    const form = await fields(c)
    // What becomes known is what was shown: another wallet may have paid by the link since.
    const isMeant = form.get('sure') === 'yes' && form.get('wallet') === sender
    if (isMeant) await addRecipient(c, sender)
    return goTo(c, `/keep-wallet/${action_id}`)
  })
}

function Question({ c, alias, wallet }: { c: Visit; alias: string; wallet: string }) {
  return (
    <>
      <p>
        Money came to {alias} from this wallet. Once it is a known recipient, agents may pay it
        without asking, within your limits.
      </p>
      <Form c={c}>
        <input type="hidden" name="wallet" value={wallet} />
        <Checkbox name="sure" label="This wallet is mine, or of somebody whom I trust" />
        <Button>Make it known</Button>
      </Form>
    </>
  )
}

async function addRecipient(c: Visit, address: string): Promise<void> {
  const { db } = await owner(c)
  const mail = await noticeOf(c, (webUrl, deed) =>
    recipientTrusted(webUrl, { ...deed, label: null, address }),
  )
  const added = await db.one('owner_add_recipient', { address, mail }, addedRow)
  if (added?.outcome !== 'similar') return
  const message =
    'This wallet looks like another recipient that you know. Each payment to it is yours to approve.'
  throw new Rejection(fail('recipient_refused', { message }))
}

function actionId(c: Visit): string {
  const id = z.uuid().safeParse(c.req.param('action'))
  if (!id.success) throw new Rejection(fail('not_found'))
  return id.data
}

/** Who paid by this link; nobody where the account has no such link or no money came by it. */
async function payerOf({ db }: Owner, action_id: string) {
  const found = await db.one('hosted_action', { action_id }, actionRow)
  const deposit = found?.action.deposit
  if (!deposit || found.action.type !== 'walletconnect') throw new Rejection(fail('not_found'))
  return { sender: deposit.sender, isKnown: found.action.sender_known }
}
