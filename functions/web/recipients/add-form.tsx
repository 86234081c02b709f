/** The form that looks up a recipient. Nothing is added before it is shown in full. */
import { Button, Field } from '../ui/form.tsx'
import { Section } from '../ui/show.tsx'
import { webAppPath } from '../visit.ts'

/** Renders the form; `error` says why what was typed cannot be a recipient. */
export function AddForm({ value = '', error }: { value?: string; error?: string }) {
  return (
    <Section title="Add a recipient">
      <form method="get" action={`${webAppPath}/recipients/add`}>
        <Field
          name="recipient"
          label="Alias, email address or wallet address"
          hint="You see the whole address before it is added."
          value={value}
          required
          maxlength={320}
          autocomplete="off"
          {...(error && { error })}
        />
        <div class="actions">
          <Button kind="plain">Look it up</Button>
        </div>
      </form>
    </Section>
  )
}
