/** The page on which the owner adds a login to the vault. */
import { isRefusal } from '../../../shared/contract/errors.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { proofFirst, readSecurity } from '../session.ts'
import { Button, Field, Form } from '../ui/form.tsx'
import type { PageContext, Routes } from '../visit.ts'
import { vaultOf } from './entry-lines.tsx'
import {
  FurtherFields,
  type LoginErrors,
  loginErrorsOf,
  SecretFields,
  storeTyped,
  UsernameField,
} from './login-fields.tsx'

/** Routes that show the form and store the login. */
export const routes: Routes = (app) => {
  app.get('/vault/new', async (c) => proofFirst(c, await readSecurity(c)) ?? showForm(c))
  app.post('/vault/new', async (c) => {
    const { credential } = await requireOwner(c)
    const form = await readFormFields(c)
    const named = {
      site: (form.get('site') ?? '').trim(),
      username: (form.get('username') ?? '').trim(),
    }
    const stored = await storeTyped(c, credential, form, { ...named, version: 0 })
    if (!isRefusal(stored)) return showFound(c, credential, stored.credential_id, named.site)
    return showForm(c, named, loginErrorsOf(stored))
  })
}

/** Looks at the page, if the owner typed the address of one, and leads to what is to be approved there. */
async function showFound(c: PageContext, credential: string, entry: string, address: string) {
  const url = new URL(/^[a-z]+:\/\//i.test(address) ? address : `https://${address}`)
  const path = url.pathname + url.search
  const looked = path === '/' ? { found: 0 } : await vaultOf(c).lookAt({ credential, entry, path })
  const isFound = !isRefusal(looked) && looked.found > 0
  return goTo(c, isFound ? `/vault/${entry}/destinations` : `/vault/${entry}`)
}

type Named = { site: string; username: string }

/** Shows the form, with site and user name filled in again but never the secrets. */
async function showForm(
  c: PageContext,
  typed: Named = { site: '', username: '' },
  errors?: LoginErrors,
) {
  const me = await requireOwner(c)
  return sendPage(
    c,
    <Page
      c={c}
      title="Add a login"
      owner={me}
      back={{ to: '/vault', label: 'Vault' }}
      lead="Every agent with a key that may use secrets can sign in with it at this site."
    >
      <Form c={c}>
        <Field
          name="site"
          label="Site"
          hint="The address of the page where you sign in, such as https://example.com/login. The vault opens it and shows you where the password goes."
          value={typed.site}
          required
          maxlength={2_048}
          autocomplete="off"
          {...(errors?.['site'] && { error: errors['site'] })}
        />
        <UsernameField value={typed.username} errors={errors ?? {}} />
        <SecretFields errors={errors ?? {}} />
        <FurtherFields errors={errors ?? {}} />
        <div class="actions">
          <Button>Save to the vault</Button>
        </div>
      </Form>
    </Page>,
    errors === undefined ? 200 : 422,
  )
}
