/** The page of a recipient that was looked up, which the owner checks and makes known. */
import * as z from 'zod'
import { connectedChains } from '../../../shared/chains/registry.ts'
import { errorTable, fail, isRefusal, type Refusal } from '../../../shared/contract/errors.ts'
import { recipientTrusted } from '../../../shared/mail/money-messages.ts'
import { readRecipient } from '../../../shared/payments/enter/transfer.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { sealOwnerNotice } from '../session.ts'
import { Button, Form } from '../ui/form.tsx'
import { Address, Facts, Notice, Section } from '../ui/show.tsx'
import type { PageContext, Routes } from '../visit.ts'
import { AddForm } from './add-form.tsx'

const foundRow = z.object({
  address_found: z.string(),
  alias_found: z.string().nullable(),
  known: z.boolean(),
  similar_to: z.string().nullable(),
  own: z.boolean(),
})
type Found = z.output<typeof foundRow>
const addedRow = z.object({ outcome: z.enum(['added', 'known', 'similar', 'own']) })

/** Routes that look up a recipient, show it and add it. */
export const routes: Routes = (app) => {
  // The recipient is part of the path, so that the redirect after a proof keeps it.
  app.get('/recipients/add', (c) => {
    const asked = (c.req.query('recipient') ?? '').trim()
    return goTo(c, asked === '' ? '/recipients' : `/recipients/add/${encodeURIComponent(asked)}`)
  })

  app.get('/recipients/add/:recipient', async (c) => {
    const me = await requireOwner(c)
    const found = await findRecipient(c, c.req.param('recipient'))
    return sendPage(
      c,
      <Page
        c={c}
        title="Add this recipient?"
        owner={me}
        back={{ to: '/recipients', label: 'Recipients and devices' }}
        scripts={['copy']}
      >
        {isRefusal(found) ? (
          <AddForm value={c.req.param('recipient')} error={refusalWords(found)} />
        ) : (
          <Shown c={c} found={found} />
        )}
      </Page>,
      isRefusal(found) ? errorTable[found.refusal][0] : 200,
    )
  })

  app.post('/recipients/add/:recipient', async (c) => {
    const { db } = await requireOwner(c)
    const found = await findRecipient(c, c.req.param('recipient'))
    const shown = (await readFormFields(c)).get('address')
    if (isRefusal(found) || found.address_found !== shown) return goTo(c, '/recipients')
    const mail = await sealOwnerNotice(c, (webUrl, deed) =>
      recipientTrusted(webUrl, { ...deed, label: found.alias_found, address: shown }),
    )
    const added = await db.one('owner_add_recipient', { address: shown, mail }, addedRow)
    // The page of the recipient says why it was not added.
    const isAdded = added?.outcome === 'added' || added?.outcome === 'known'
    const undo = { action: '/recipients', fields: { address: shown, sure: 'yes' } }
    if (isAdded) return goTo(c, '/recipients', 'recipient_added', { undo })
    return goTo(c, `/recipients/add/${encodeURIComponent(shown)}`)
  })
}

async function findRecipient(c: PageContext, text: string): Promise<Found | Refusal> {
  const { db } = await requireOwner(c)
  const { config } = c.get('world')
  const read = readRecipient(text, connectedChains(config), config.MAIL_DOMAIN)
  if (isRefusal(read)) return read
  const question =
    read.kind === 'address' ? { address: read.address } : { recipient_alias: read.alias }
  return (await db.one('resolve_recipient', question, foundRow)) ?? fail('recipient_not_found')
}

function refusalWords({ refusal, message }: Refusal): string {
  return (message ?? errorTable[refusal][1]).replace(/^recipient: /, '')
}

function Shown({ c, found }: { c: PageContext; found: Found }) {
  const { address_found: address, alias_found: alias, known, similar_to: similar, own } = found
  return (
    <>
      <Section title="Who it is">
        <Facts
          facts={[
            ...(alias === null ? [] : [['Account', alias] as const]),
            ['Address', <Address value={address} />],
          ]}
        />
      </Section>
      {similar !== null && (
        <Notice kind="danger" title="This address imitates one that you trust">
          <p>It cannot be added. Each payment to it needs your approval. You trust this one:</p>
          <Address value={similar} />
        </Notice>
      )}
      {own && <Notice kind="warning">This is the wallet of this account.</Notice>}
      {known && <Notice kind="info">You already trust this recipient.</Notice>}
      {!known && !own && similar === null && (
        <Form c={c}>
          <p>Agents may then pay it without asking, within your limits.</p>
          <input type="hidden" name="address" value={address} />
          <div class="actions">
            <Button>Add it</Button>
          </div>
        </Form>
      )}
    </>
  )
}
