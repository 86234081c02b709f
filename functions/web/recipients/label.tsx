/** The owner's name for a recipient: its form, and the route that stores it. */
import * as z from 'zod'
import { addressSchema } from '../../../shared/chains/hex.ts'
import { visibleLine } from '../../../shared/text/untrusted.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Button, Field, Form } from '../ui/form.tsx'
import { type PageContext, type Routes, returnPathOf } from '../visit.ts'

const labelCharactersMax = 64

const labelledRow = z.object({ labelled: z.boolean() })

/** Route that names a recipient and leads back to the page of the form. */
export const routes: Routes = (app) => {
  app.post('/recipients/label', async (c) => {
    const { db } = await requireOwner(c)
    const form = await readFormFields(c)
    const back = returnPathOf(form.get('back'))
    const address = addressSchema.safeParse(form.get('address'))
    if (!address.success) return goTo(c, back)
    const label = visibleLine((form.get('label') ?? '').trim().slice(0, labelCharactersMax))
    const question = { address: address.data, label }
    const named = await db.one('owner_label_recipient', question, labelledRow)
    return goTo(c, back, named?.labelled ? 'labelled' : 'labels_full')
  })
}

type LabelFormProps = { c: PageContext; address: string; label: string | null }

/** Renders the form that names a recipient, or takes its name away. */
export function LabelForm({ c, address, label }: LabelFormProps) {
  return (
    <Form c={c} action="/recipients/label" class="row">
      <input type="hidden" name="address" value={address} />
      <input type="hidden" name="back" value={c.req.path} />
      <Field
        name="label"
        label="Your name for this recipient"
        value={label ?? ''}
        maxlength={labelCharactersMax}
        autocomplete="off"
      />
      <Button kind="plain">Save</Button>
    </Form>
  )
}
