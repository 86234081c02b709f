/** The owner's name for a recipient: its form, and the route that stores it. */
import * as z from 'zod'
import { addressSchema } from '../../../shared/chains/hex.ts'
import { visibleLine } from '../../../shared/text/untrusted.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { Button, Field, Form } from '../ui/form.tsx'
import { Address, SendAgain } from '../ui/show.tsx'
import {
  markFormDraft,
  type PageContext,
  type Routes,
  returnPathField,
  returnPathOf,
  takeFormDraft,
} from '../visit.ts'

const labelCharactersMax = 64
const tooLong = 'Enter a name of at most 64 characters.'
const tooMany = 'You named 1,000 recipients, the maximum. Remove a name first.'

const labelledRow = z.object({ labelled: z.boolean() })

/** Routes that name a recipient and lead back to the page of the form, or show what is wrong with the name. */
export const routes: Routes = (app) => {
  app.get('/recipients/label', async (c) => {
    const draft = takeFormDraft(c, await requireOwner(c))
    return draft ? showLabel(c, draft) : goTo(c, '/recipients')
  })
  app.post('/recipients/label', async (c) => {
    const { db } = await requireOwner(c)
    const form = await readFormFields(c)
    markFormDraft(c, form)
    const back = returnPathOf(form.get('back'))
    const address = addressSchema.safeParse(form.get('address'))
    if (!address.success) return goTo(c, back)
    const label = visibleLine((form.get('label') ?? '').trim())
    if (label.length > labelCharactersMax) return showLabel(c, form, tooLong)
    const question = { address: address.data, label }
    const named = await db.one('owner_label_recipient', question, labelledRow)
    return named?.labelled ? goTo(c, back, 'labelled') : showLabel(c, form, tooMany)
  })
}

/** Shows the form with what was typed: with an error, or to be sent again after a proof. */
async function showLabel(c: PageContext, form: URLSearchParams, error?: string) {
  const address = form.get('address') ?? ''
  const back = returnPathOf(form.get('back'))
  return sendPage(
    c,
    <Page c={c} title="Name this recipient" owner={await requireOwner(c)} scripts={['copy']}>
      {error === undefined && <SendAgain />}
      <p>
        <Address value={address} />
      </p>
      <LabelForm
        c={c}
        address={address}
        label={form.get('label')}
        back={returnPathField(back)}
        {...(error && { error })}
      />
    </Page>,
    error === undefined ? 200 : 400,
  )
}

type LabelFormProps = {
  c: PageContext
  address: string
  label: string | null
  /** Path of the page to come back to, this one if there is none. */
  back?: string
  error?: string
}

/** Renders the form that names a recipient, or takes its name away. */
export function LabelForm({ c, address, label, back = c.req.path, error }: LabelFormProps) {
  return (
    <Form c={c} action="/recipients/label" class="row">
      <input type="hidden" name="address" value={address} />
      <input type="hidden" name="back" value={back} />
      <Field
        name="label"
        label="Your name for this recipient"
        value={label ?? ''}
        maxlength={labelCharactersMax}
        autocomplete="off"
        {...(error && { error })}
      />
      <Button kind="plain">Save</Button>
    </Form>
  )
}
