/** The page on which the owner makes a wallet that paid by a link a known recipient. */
import * as z from 'zod'
import { fail, Rejection } from '../../../shared/contract/errors.ts'
import { actionSchema } from '../../../shared/hosted/action.ts'
import { recipientTrusted } from '../../../shared/mail/money-messages.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { sealOwnerNotice } from '../session.ts'
import { Button, Checkbox, Form } from '../ui/form.tsx'
import { Address, Notice, Section } from '../ui/show.tsx'
import type { Owner, PageContext, Routes } from '../visit.ts'

const actionRow = z.object({ action: actionSchema })
const addedRow = z.object({ outcome: z.enum(['known', 'similar', 'own', 'added']) })

/** Routes that show the wallet and make it known. */
export const routes: Routes = (app) => {
  app.get('/keep-wallet/:action', async (c) => {
    const me = await requireOwner(c)
    const { sender, isKnown } = await payerOf(me, actionId(c))
    return sendPage(
      c,
      <Page
        c={c}
        title="Trust this wallet as a recipient"
        owner={me}
        back={{ to: '/recipients', label: 'Recipients and devices' }}
        scripts={['copy']}
      >
        <Section title="The wallet">
          <p>
            <Address value={sender} />
          </p>
          {isKnown ? (
            <Notice kind="good">It is a trusted recipient of {me.account.alias}.</Notice>
          ) : (
            <Question c={c} alias={me.account.alias} wallet={sender} />
          )}
        </Section>
      </Page>,
    )
  })
  app.post('/keep-wallet/:action', async (c) => {
    const me = await requireOwner(c)
    const action_id = actionId(c)
    const { sender } = await payerOf(me, action_id)
    const form = await readFormFields(c)
    // Only the wallet that was shown becomes known: another one may have paid by the link since.
    const isMeant = form.get('sure') === 'yes' && form.get('wallet') === sender
    if (isMeant) await addRecipient(c, sender)
    return goTo(c, `/keep-wallet/${action_id}`)
  })
}

function Question({ c, alias, wallet }: { c: PageContext; alias: string; wallet: string }) {
  return (
    <>
      <p>
        Money came to {alias} from this wallet. Once it is a trusted recipient, agents may pay it
        without asking, within your limits.
      </p>
      <Form c={c}>
        <input type="hidden" name="wallet" value={wallet} />
        <Checkbox name="sure" label="This wallet is mine, or belongs to somebody I trust" />
        <Button>Trust this recipient</Button>
      </Form>
    </>
  )
}

async function addRecipient(c: PageContext, address: string): Promise<void> {
  const { db } = await requireOwner(c)
  const mail = await sealOwnerNotice(c, (webUrl, deed) =>
    recipientTrusted(webUrl, { ...deed, label: null, address }),
  )
  const added = await db.one('owner_add_recipient', { address, mail }, addedRow)
  if (added?.outcome !== 'similar') return
  const message =
    'This wallet looks like a recipient that you trust. Each payment to it needs your approval.'
  throw new Rejection(fail('recipient_refused', { message }))
}

function actionId(c: PageContext): string {
  const id = z.uuid().safeParse(c.req.param('action'))
  if (!id.success) throw new Rejection(fail('not_found'))
  return id.data
}

/** Returns the wallet that paid by this link; throws if the link does not exist or no money came. */
async function payerOf({ db }: Owner, action_id: string) {
  const found = await db.one('hosted_action', { action_id }, actionRow)
  const deposit = found?.action.deposit
  if (!deposit || found.action.type !== 'walletconnect') throw new Rejection(fail('not_found'))
  return { sender: deposit.sender, isKnown: found.action.sender_known }
}
